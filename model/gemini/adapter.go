package gemini

import (
	"context"
	"net/http"
	"sync"

	"google.golang.org/genai"

	"github.com/covel-engine/covel/model"
)

// Adapter is the adapter of google-generative-ai-v1. Its zero value is ready;
// it must not be copied.
type Adapter struct {
	clients sync.Map // *http.Client → *genai.Client
}

// Send makes one call; it implements model.Adapter.
func (a *Adapter) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	path, bad := model.GeminiModelPath(req.Target.Model)
	if bad != nil {
		return nil, bad
	}
	body, err := render(req)
	if err != nil {
		return nil, err
	}
	client, err := a.client(ctx, req)
	if err != nil {
		return nil, err
	}
	reply := &reply{req: req, body: body, emit: emit}
	if !req.Stream {
		ctx, call := req.Exchange(ctx, req.Target.BaseURL+path+":generateContent", auth(req), body, nil)
		_, err := client.Models.GenerateContent(ctx, "covel", genai.Text("covel"), nil)
		if failure := req.Check(call, err); failure != nil {
			return nil, failure
		}
		if err := reply.take(call.Reply); err != nil {
			return nil, err
		}
		return reply.settle()
	}
	ctx, call := req.Exchange(ctx, req.Target.BaseURL+path+":streamGenerateContent?alt=sse", auth(req), body, reply.event)
	for _, err = range client.Models.GenerateContentStream(ctx, "covel", genai.Text("covel"), nil) {
		if err != nil {
			break
		}
	}
	if !reply.terminal() {
		if failure := req.Check(call, err); failure != nil {
			return nil, failure
		}
		if reply.defect == nil {
			return nil, req.Unfinished("finishReason")
		}
	}
	return reply.settle()
}

// client gives the library over the request's transport chain, without its
// retries. One is kept for each chain: making one reads the environment, and
// logs what it thinks of two keys. The key it is given is not sent; layer 1
// sends the real one.
func (a *Adapter) client(ctx context.Context, req *model.Request) (*genai.Client, error) {
	if kept, ok := a.clients.Load(req.HTTP); ok {
		return kept.(*genai.Client), nil //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "covel", Backend: genai.BackendGeminiAPI, HTTPClient: req.HTTP,
		HTTPOptions: genai.HTTPOptions{BaseURL: req.Target.BaseURL},
	})
	if err != nil {
		return nil, err
	}
	a.clients.Store(req.HTTP, client)
	return client, nil
}

func auth(req *model.Request) http.Header {
	if req.Key == "" {
		return nil
	}
	return http.Header{"X-Goog-Api-Key": {req.Key}}
}
