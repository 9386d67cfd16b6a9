package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// lab is one session of a small plugin whose handlers and model do what a test
// says, on a store in memory.
type lab struct {
	*Activities
	st    store.Store
	model *fakeModel
	cfg   Config
	// execution counts the turns that were begun.
	executions int
}

// labHandlers answer the plugin's function and tools; nil ones answer nothing.
type labHandlers struct {
	probe plugin.FunctionHandler
	note  plugin.ToolHandler
	gate  plugin.GuardHandler
}

func newLab(t *testing.T, h labHandlers) *lab {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	if h.probe == nil {
		h.probe = func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{}, nil
		}
	}
	if h.gate == nil {
		h.gate = func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
			return plugin.GuardResult{}, nil
		}
	}
	if h.note == nil {
		h.note = func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted"}, nil
		}
	}
	gen, findings, err := plugin.Load(plugin.Config{Bundled: labPlugin(), Handlers: plugin.Handlers{
		Functions: map[string]plugin.FunctionHandler{"lab.probe": h.probe},
		Guards:    map[string]plugin.GuardHandler{"lab.gate": h.gate},
		Tools:     map[string]plugin.ToolHandler{"lab.note": h.note},
	}})
	must(t, err)
	for _, f := range findings {
		t.Log(f)
	}
	lib, _, err := world.Load(world.Config{Plugins: gen})
	must(t, err)
	hub, err := stream.NewHub(stream.Config{Store: st})
	must(t, err)
	t.Cleanup(hub.Close)
	texts, err := locale.Load()
	must(t, err)
	l := &lab{st: st, model: &fakeModel{}}
	l.cfg = Config{Library: lib, Model: l.model, Now: newClock(), Plugins: gen, Store: st, Streams: hub, Texts: texts}
	l.restart(t)
	l.write(t, func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: "game", WorldID: "lab", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en",
			ActivePlugins: []string{"lab"}, CreatedAt: l.cfg.Now(), UpdatedAt: l.cfg.Now(),
		})
	})
	return l
}

// restart goes on with another worker: it remembers nothing.
func (l *lab) restart(t *testing.T) {
	t.Helper()
	acts, err := New(l.cfg)
	must(t, err)
	l.Activities = acts
}

// newClock moves by a millisecond at each look.
func newClock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	}
}

func (l *lab) write(t *testing.T, fn func(ctx context.Context, tx store.Tx) error) {
	t.Helper()
	must(t, l.st.WithTx(t.Context(), fn))
}

// labPlugin has a story agent, an agent with a tool and a function.
func labPlugin() fs.FS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"lab/PLUGIN.md": file(`---
id: lab
kind: plugin
description: Runtimes for trying out activities.
version: 1.0.0
contributes:
  tools:
    - name: note
      handler: go:lab.note
      description: Takes a note.
      input: schemas/note.json
      idempotent: true
  data:
    notes: {schema: schemas/row.json, version: 1}
---
`),
		"lab/schemas/note.json": file(`{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}`),
		"lab/schemas/row.json":  file(`{"type":"object"}`),
		"lab/runtimes/probe/RUNTIME.md": file(`---
type: function
description: Answers what a test says.
schedule: {stage: pre-turn}
function: {handler: go:lab.probe, idempotent: true, timeoutMs: 100}
---
`),
		"lab/runtimes/teller/RUNTIME.md": file(`---
type: agent
description: Tells the story.
schedule: {stage: narrative}
io: {visibility: story}
agent:
  loop: {maxRetries: 2}
---
# Purpose
Tell what happens.
`),
		"lab/runtimes/teller/RUNTIME.zh.md": file("---\n---\n# 目的\n讲述发生的事。\n"),
		"lab/runtimes/clerk/RUNTIME.md": file(`---
type: agent
description: Takes notes.
schedule: {stage: post-turn}
guard: go:lab.gate
agent:
  tools: {plugin: [note]}
  loop: {maxRetries: 2}
---
# Purpose
Take a note with the tool ` + "`note`" + `.
`),
		"lab/runtimes/clerk/RUNTIME.zh.md": file("---\n---\n# 目的\n用工具 `note` 记一条笔记。\n"),
	}
}

// fakeModel counts its calls and answers what a test says, else one sentence.
type fakeModel struct {
	mu     sync.Mutex
	calls  []model.Params
	slots  []string
	answer func(n int, p model.Params, onDelta func(model.Delta)) (*model.Result, error)
}

// Call answers the nth call, n from 1.
func (m *fakeModel) Call(_ context.Context, slot string, p model.Params, onDelta func(model.Delta)) (*model.Result, error) {
	m.mu.Lock()
	m.calls, m.slots = append(m.calls, p), append(m.slots, slot)
	n, answer := len(m.calls), m.answer
	m.mu.Unlock()
	if answer != nil {
		return answer(n, p, onDelta)
	}
	return said(fmt.Sprintf("Sentence %d.", n)), nil
}

// Resolve gives the same model for every slot.
func (m *fakeModel) Resolve(slot string) (model.Target, error) {
	return model.Target{Slot: slot, Provider: "lab", Protocol: model.ProtocolChat, Model: "lab", ContextWindow: 100_000, MaxOutputTokens: 4000}, nil
}

func (m *fakeModel) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

func said(text string) *model.Result {
	cost := 0.000_012
	return &model.Result{
		Text: text, FinishReason: "stop", Usage: model.Usage{InputTokens: 100, OutputTokens: 10}, CostUSD: &cost,
		Records: []model.RequestRecord{{Provider: "lab", Protocol: model.ProtocolChat, Model: "lab"}},
	}
}

// noting is a reply with one call of the tool note for each text.
func noting(texts ...string) *model.Result {
	r := said("")
	r.FinishReason = "tool_calls"
	for i, text := range texts {
		args, _ := json.Marshal(map[string]string{"text": text})
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: fmt.Sprintf("call-%d", i+1), Name: "note", Arguments: string(args)})
	}
	return r
}

func (l *lab) input(id string) turn.Input {
	return turn.Input{SessionID: "game", TurnID: id, Origin: turn.OriginPlayer, PlayerMessage: "I open door " + id + "."}
}

// begin starts a turn and gives its scope.
func (l *lab) begin(t *testing.T, id string) turn.Scope {
	t.Helper()
	l.executions++
	scope := turn.Scope{SessionID: "game", TurnID: id, ExecutionID: fmt.Sprintf("run-%d", l.executions)}
	plan, err := l.BeginTurn(t.Context(), scope, l.input(id))
	must(t, err)
	if plan.Action != turn.PlanRun {
		t.Fatalf("turn %s does not run: %+v", id, plan)
	}
	return scope
}

func (l *lab) commit(t *testing.T, scope turn.Scope) turn.CommitFacts {
	t.Helper()
	facts, err := l.CommitTurn(t.Context(), turn.CommitInput{Scope: scope})
	must(t, err)
	must(t, l.FinishTurn(t.Context(), scope))
	return facts
}

// first is the first model call of a runtime.
func first(scope turn.Scope, runtimeID, stage string) turn.CallModelInput {
	return turn.CallModelInput{Scope: scope, RuntimeID: runtimeID, Stage: stage, Step: 1, Length: 1, TimeLeftMs: 60_000}
}

// agent plays a whole agent runtime.
func (l *lab) agent(t *testing.T, scope turn.Scope, runtimeID, stage string) turn.RuntimeFacts {
	t.Helper()
	machine := agentloop.New(turn.AgentSpec{RuntimeID: runtimeID, Story: runtimeID == "lab/teller"})
	for command := machine.Start(); ; {
		switch {
		case command.CallModel != nil:
			c := command.CallModel
			reply, err := l.CallModel(t.Context(), turn.CallModelInput{
				Scope: scope, RuntimeID: runtimeID, Stage: stage, Step: c.Step, Length: c.Length, Notes: c.Notes,
				ToolChoice: c.ToolChoice, Finalizer: c.Finalizer, TimeLeftMs: c.TimeLeftMs,
			})
			must(t, err)
			command = machine.ModelReplied(reply)
		case command.RunTools != nil:
			batch := command.RunTools
			command = agentloop.Command{}
			for i := batch.From; command == (agentloop.Command{}); i++ {
				out, err := l.RunTool(t.Context(), turn.RunToolInput{
					Scope: scope, RuntimeID: runtimeID, Stage: stage, CallID: batch.Calls[i].ID, Reply: batch.Reply, At: batch.Reply + 1 + i,
				})
				must(t, err)
				command = machine.ToolFinished(out)
			}
		default:
			f, facts := command.Finish, machine.Facts()
			out, err := l.FinishRuntime(t.Context(), turn.FinishInput{
				Scope: scope, RuntimeID: runtimeID, Stage: stage, Length: f.Length, Ending: f.Ending, Tool: f.Tool, Code: f.Code,
				Message: f.Message, Steps: facts.Steps, Usage: facts.Usage, CostMicroUSD: facts.CostMicroUSD, CapturedAt: f.CapturedAt, Parts: f.Parts,
			})
			must(t, err)
			return out
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// codeOf is the code that an activity's error leaves with.
func codeOf(err error) string {
	var app interface {
		error
		Type() string
	}
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}
