package openai

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
)

// encryptedContent is the include value that brings reasoning back readable to
// the provider only, so that nothing has to be stored there.
const encryptedContent = "reasoning.encrypted_content"

// Responses is the adapter of openai-responses-v1. Its zero value is ready.
type Responses struct{}

// Send makes one call; it implements model.Adapter. An endpoint that does not
// know encrypted reasoning is asked once more without it, and remembered.
func (r Responses) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	endpoint := "include\n" + req.Target.BaseURL + "\n" + req.Target.Model
	include := wantsEncrypted(req) && !req.Memory.Marked(endpoint)
	result, call, err := r.send(ctx, req, include, emit)
	if include && err != nil && refusesInclude(call) {
		if result, _, err = r.send(ctx, req, false, emit); err == nil {
			req.Memory.Mark(endpoint)
		}
	}
	return result, err
}

// wantsEncrypted says whether the request asks for encrypted reasoning.
func wantsEncrypted(req *model.Request) bool {
	return !stored(req) && effort(req) != "none"
}

// stored says whether the slot lets the provider keep replies.
func stored(req *model.Request) bool { return string(req.Fields.Get("store")) == "true" }

func effort(req *model.Request) string {
	var r struct {
		Effort string `json:"effort"`
	}
	_ = json.Unmarshal(req.Fields.Get("reasoning"), &r) // absent: no effort
	return r.Effort
}

// refusesInclude says whether a 400 is about encrypted reasoning.
func refusesInclude(call *transport.Call) bool {
	if call == nil || call.Status != 400 {
		return false
	}
	f := model.ParseFault(model.ProtocolResponses, 400, call.Reply)
	message := strings.ToLower(f.Message)
	return f.Param == "include" || strings.Contains(message, "encrypted content") || strings.Contains(message, "encrypted_content")
}

func (Responses) send(ctx context.Context, req *model.Request, include bool, emit func(model.Event)) (*model.Result, *transport.Call, error) {
	body := renderResponses(req, include)
	url := model.EndpointURL(req.Target.BaseURL, "/responses")
	neutral := sdk.CreateResponseRequest{Model: neutralModel, Input: neutralModel}
	if !req.Stream {
		ctx, call := req.Exchange(ctx, url, auth(req), body, nil)
		_, err := newClient(req).CreateResponse(ctx, neutral)
		if failure := req.Check(call, err); failure != nil {
			return nil, call, failure
		}
		result, err := readResponse(req, body, call.Reply)
		return result, call, err
	}
	reply := &responsesStream{req: req, body: body, emit: emit, items: map[int]json.RawMessage{}}
	ctx, call := req.Exchange(ctx, url, auth(req), body, reply.event)
	stream, err := newClient(req).CreateResponseStream(ctx, neutral)
	if err == nil {
		err = drain(stream)
	}
	if reply.final == nil {
		if failure := req.Check(call, err); failure != nil {
			return nil, call, failure
		}
		return nil, call, req.Unfinished("response.completed")
	}
	result, err := reply.result()
	return result, call, err
}
