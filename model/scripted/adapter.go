package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/covel-engine/covel/model"
)

// defaultChunkRunes is the size of stream pieces where a script names none.
const defaultChunkRunes = 24

// Config assembles an Adapter.
type Config struct {
	// Dir is where relative script paths start. Defaults to the working directory.
	Dir string
}

// Adapter speaks scripted-v1: it plays the script that the target's model
// names, or the storyteller.
type Adapter struct{ dir string }

// New gives an adapter.
func New(c Config) *Adapter { return &Adapter{dir: c.Dir} }

// Send plays one call; it implements model.Adapter. Scripted errors go through
// the transport chain like a provider's, so retries, waits and budgets hold.
func (a *Adapter) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	p := &player{adapter: a, prompt: promptOf(req), attempts: req.Attempts}
	ctx, call := req.Exchange(ctx, "https://scripted.invalid/", nil, p.prompt.chatForm(), nil)
	send, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := req.Via(p).Do(send)
	if err == nil {
		_ = resp.Body.Close()
	}
	if failure := req.Check(call, err); failure != nil {
		return nil, failure
	}
	var reply Reply
	if err := json.Unmarshal(call.Reply, &reply); err != nil {
		return nil, req.BrokenReply(err.Error())
	}
	return perform(ctx, req, &reply, emit)
}

// player is the far end of the transport chain: it answers the call's prompt.
type player struct {
	adapter  *Adapter
	prompt   *Prompt
	attempts func() int
}

// RoundTrip answers one send.
func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	p.prompt.Attempt = p.attempts()
	reply, err := p.adapter.play(p.prompt)
	if err != nil {
		return nil, err
	}
	if f := reply.Fault; f != nil {
		if f.Connection != "" {
			return nil, f.linkError()
		}
		return f.response(req), nil
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// linkError is the failure of a link.
func (f *Fault) linkError() error {
	if f.Connection == "reset" {
		return syscall.ECONNRESET
	}
	return syscall.ECONNREFUSED
}

// response is the fault as an HTTP answer.
func (f *Fault) response(req *http.Request) *http.Response {
	return &http.Response{StatusCode: f.Status, Header: f.header(), Body: io.NopCloser(bytes.NewReader(f.body())), Request: req}
}

func (f *Fault) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if f.RetryAfterMs != nil {
		h.Set("Retry-After-Ms", strconv.Itoa(*f.RetryAfterMs))
	}
	return h
}

func (f *Fault) body() []byte {
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"code": f.Code, "message": f.Message}}) // texts only
	return body
}

// play finds the reply to a prompt.
func (a *Adapter) play(p *Prompt) (*Reply, error) {
	reply, err := a.answer(p)
	if err != nil {
		return nil, err
	}
	p.complete(reply)
	return reply, nil
}

func (a *Adapter) answer(p *Prompt) (*Reply, error) {
	if p.Model == Storyteller {
		return tell(p)
	}
	path := p.Model
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	script, err := LoadScript(path)
	if err != nil {
		return nil, err
	}
	return script.play(p)
}

func promptOf(req *model.Request) *Prompt {
	p := &Prompt{Identity: req.Identity, Messages: req.Messages, Model: req.Target.Model, Schema: req.Schema, Tools: req.Tools}
	if c := req.Choice; c != nil {
		p.Choice = *c
		if c.Raw != nil {
			p.Choice = chatChoice(c.Raw)
		}
	}
	if p.Identity.Slot == "" {
		p.Identity.Slot = req.Target.Slot
	}
	return p
}

// chatChoice reads a tool choice in Chat form.
func chatChoice(raw json.RawMessage) model.Choice {
	var mode string
	if json.Unmarshal(raw, &mode) == nil {
		return model.Choice{Mode: mode}
	}
	var named struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &named) == nil && named.Function.Name+named.Name != "" {
		return model.Choice{Mode: model.ChoiceNamed, Name: named.Function.Name + named.Name}
	}
	return model.Choice{Mode: model.ChoiceAuto}
}

// perform gives the reply's pieces as events and ends with the result.
func perform(ctx context.Context, req *model.Request, r *Reply, emit func(model.Event)) (*model.Result, error) {
	if req.Stream {
		if err := show(ctx, r, r.Reasoning, model.EventReasoning, emit); err != nil {
			return nil, err
		}
		if err := show(ctx, r, r.Text, model.EventText, emit); err != nil {
			return nil, err
		}
		if len(r.ToolCalls) > 0 {
			emit(model.Event{Kind: model.EventToolArgument})
		}
	}
	if r.Truncated {
		return nil, req.Unfinished("finish")
	}
	result, err := req.Settle(&model.Result{
		Text: r.Text, ReasoningContent: r.Reasoning, ToolCalls: r.ToolCalls, FinishReason: model.FinishReason(r.Finish),
		RawFinishReason: r.Finish, Usage: r.Usage,
	})
	if err != nil {
		return nil, err
	}
	if req.Stream {
		for _, c := range r.ToolCalls {
			emit(model.Event{Kind: model.EventToolCall, Call: c})
		}
	}
	return result, nil
}

func show(ctx context.Context, r *Reply, text string, kind model.EventKind, emit func(model.Event)) error {
	for _, piece := range pieces(text, r.ChunkRunes) {
		if err := pause(ctx, r.DelayMs); err != nil {
			return err
		}
		emit(model.Event{Kind: kind, Text: piece})
	}
	return nil
}

// pause waits between pieces, or until the call ends.
func pause(ctx context.Context, ms int) error {
	if ms <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// pieces cuts a text into stream pieces of n runes.
func pieces(s string, n int) []string {
	if n <= 0 {
		n = defaultChunkRunes
	}
	var out []string
	for s != "" {
		piece := firstRunes(s, n)
		out = append(out, piece)
		s = s[len(piece):]
	}
	return out
}
