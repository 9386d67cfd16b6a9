package scripted

import (
	"context"
	"path/filepath"
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

// Send plays one call; it implements model.Adapter.
func (a *Adapter) Send(ctx context.Context, req *model.Request, emit func(model.Event)) (*model.Result, error) {
	prompt := promptOf(req)
	reply, err := a.play(prompt)
	if err != nil {
		return nil, err
	}
	return perform(ctx, req, reply, emit)
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
	p := &Prompt{
		Attempt: 1, Identity: req.Identity, Messages: req.Messages, Model: req.Target.Model, Schema: req.Schema, Tools: req.Tools,
	}
	if req.Choice != nil {
		p.Choice = *req.Choice
	}
	if p.Identity.Slot == "" {
		p.Identity.Slot = req.Target.Slot
	}
	return p
}

// perform gives the reply's pieces as events and ends with the result.
func perform(ctx context.Context, req *model.Request, r *Reply, emit func(model.Event)) (*model.Result, error) {
	if req.Stream {
		for _, piece := range pieces(r.Reasoning, r.ChunkRunes) {
			if err := pause(ctx, r.DelayMs); err != nil {
				return nil, err
			}
			emit(model.Event{Kind: model.EventReasoning, Text: piece})
		}
		for _, piece := range pieces(r.Text, r.ChunkRunes) {
			if err := pause(ctx, r.DelayMs); err != nil {
				return nil, err
			}
			emit(model.Event{Kind: model.EventText, Text: piece})
		}
		if len(r.ToolCalls) > 0 {
			emit(model.Event{Kind: model.EventToolArgument})
		}
	}
	if r.Truncated {
		return nil, &model.Error{
			Code: model.CodeProvider, Retriable: true,
			Message: "[" + model.ProtocolScripted + "] the stream ended without its terminal event (finish)",
		}
	}
	finish := model.FinishReason(r.Finish)
	if req.Stream {
		for _, c := range r.ToolCalls {
			emit(model.Event{Kind: model.EventToolCall, Call: c})
		}
	}
	return &model.Result{
		Text: r.Text, ReasoningContent: r.Reasoning, ToolCalls: r.ToolCalls, FinishReason: finish, RawFinishReason: r.Finish,
		Usage: r.Usage.Clamped(),
	}, nil
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
