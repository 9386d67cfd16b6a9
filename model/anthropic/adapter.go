package anthropic

import (
	"context"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/covel-engine/covel/model"
)

// apiVersion is the version of the API that is spoken.
const apiVersion = "2023-06-01"

// Adapter is the adapter of anthropic-messages-v1. Its zero value is ready.
type Adapter struct{}

// Send makes one call; it implements model.Adapter.
func (Adapter) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	body := render(req)
	url := model.EndpointURL(req.Target.BaseURL, "/messages")
	client := newClient(req)
	if !req.Stream {
		ctx, call := req.Exchange(ctx, url, auth(req), body, nil)
		_, err := client.Messages.New(ctx, neutral())
		if failure := req.Check(call, err); failure != nil {
			return nil, failure
		}
		return readReply(req, call.Reply, body)
	}
	reply := newStream(req, body, emit)
	ctx, call := req.Exchange(ctx, url, auth(req), body, reply.event)
	stream := client.Messages.NewStreaming(ctx, neutral())
	for stream.Next() { //nolint:revive // the events went to the call on their way
	}
	err := stream.Err()
	_ = stream.Close()
	if reply.terminal {
		return reply.result()
	}
	if failure := req.Check(call, err); failure != nil {
		return nil, failure
	}
	return nil, req.Unfinished("message_stop")
}

// newClient gives the library over the request's transport chain. The time
// limit is the budget's ceiling, so that no length of answer is refused.
func newClient(req *model.Request) sdk.Client {
	return sdk.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithAPIKey("covel"), // layer 1 sends the real one
		option.WithBaseURL(req.Target.BaseURL),
		option.WithHTTPClient(req.HTTP),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(max(time.Until(req.Ceiling), time.Second)),
	)
}

// neutral is what the library is asked for; layer 1 sends another body.
func neutral() sdk.MessageNewParams {
	return sdk.MessageNewParams{
		MaxTokens: 1, Model: "covel", Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("covel"))},
	}
}

func auth(req *model.Request) http.Header {
	h := http.Header{"Anthropic-Version": {apiVersion}}
	if req.Key != "" {
		h.Set("X-Api-Key", req.Key)
	}
	return h
}
