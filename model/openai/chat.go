package openai

import (
	"context"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
)

// Chat is the adapter of openai-chat-v1. Its zero value is ready.
type Chat struct{}

// Send makes one call; it implements model.Adapter.
func (Chat) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	body := renderChat(req)
	url := model.EndpointURL(req.Target.BaseURL, "/chat/completions")
	if !req.Stream {
		ctx, call := req.Exchange(ctx, url, auth(req), body, nil)
		_, err := newClient(req).CreateChatCompletion(ctx, neutralChat())
		if failure := req.Check(call, err); failure != nil {
			return nil, failure
		}
		return readChat(req, body, call.Reply)
	}
	reply := newChatStream(req, body, emit)
	ctx, call := req.Exchange(ctx, url, auth(req), body, reply.event)
	stream, err := newClient(req).CreateChatCompletionStream(ctx, neutralChat())
	if err == nil {
		err = drain(stream)
	}
	return reply.finish(call, err)
}

// neutralChat is what the library is asked for; layer 1 sends another body.
func neutralChat() sdk.ChatCompletionRequest {
	return sdk.ChatCompletionRequest{Model: neutralModel, Messages: []sdk.ChatCompletionMessage{{Role: sdk.ChatMessageRoleUser, Content: neutralModel}}}
}

// drain reads a stream to its end; the events went to the call on their way.
func drain(stream interface {
	RecvRaw() ([]byte, error)
	Close() error
}) error {
	for {
		if _, err := stream.RecvRaw(); err != nil {
			_ = stream.Close()
			return err
		}
	}
}

// finish ends a streamed reply: a stream without its terminal event failed,
// whatever else came; after it a lost connection is no error.
func (s *chatStream) finish(call *transport.Call, libraryErr error) (*model.Result, error) {
	if s.terminal {
		return s.result()
	}
	if failure := s.req.Check(call, libraryErr); failure != nil {
		return nil, failure
	}
	return nil, s.req.Unfinished("finish_reason")
}
