package golden_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/model/scripted"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// game plays a session through the real activities in the order in which the
// workflows call them, one thing after another, so that every run of it is the
// same.
type game struct {
	t       *testing.T
	acts    *activities.Activities
	store   store.Store
	path    string // of the database file
	session string
	turns   int
}

// gameConfig says which game is played.
type gameConfig struct {
	locale   string
	protocol string
	// script answers the model calls.
	script string
}

func newGame(t *testing.T, cfg gameConfig) *game {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	gen, findings, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	must(t, err)
	lib, more, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	must(t, err)
	if len(findings)+len(more) > 0 {
		t.Fatalf("the bundled content is broken: %v %v", findings, more)
	}
	hub, err := stream.NewHub(stream.Config{Store: st})
	must(t, err)
	t.Cleanup(hub.Close)
	texts, err := locale.Load()
	must(t, err)
	clock := &stepClock{now: time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)}
	g := &game{t: t, store: st, path: st.Path(), session: "golden-" + cfg.locale}
	g.acts, err = activities.New(activities.Config{
		Library: lib, Model: gateway(t, cfg), Now: clock.tick, Plugins: gen, Store: st, Streams: hub, Texts: texts,
	})
	must(t, err)
	c, err := client.New(client.Config{Library: lib, Now: clock.tick, Plugins: gen, Store: st, Streams: hub})
	must(t, err)
	_, err = c.CreateSession(t.Context(), client.CreateSession{World: "lanternfall", ID: g.session, Locale: cfg.locale})
	must(t, err)
	return g
}

// stepClock moves by a millisecond at each look: time passes, and always alike.
type stepClock struct{ now time.Time }

func (c *stepClock) tick() time.Time {
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// gateway is the real gateway and the real protocol; the script answers where
// the network would be.
func gateway(t *testing.T, cfg gameConfig) model.Caller {
	t.Helper()
	llm := filepath.Join(t.TempDir(), "llm.toml")
	text, base := "", "https://relay.example/v1"
	if cfg.protocol == model.ProtocolGemini {
		base += "beta"
	}
	for _, slot := range []string{"story", "default", "plugin", "fast", "memory"} {
		text += fmt.Sprintf("[covel.%s]\nprovider = \"relay\"\nmodel = \"golden\"\nprotocol = %q\nbaseUrl = %q\n\n", slot, cfg.protocol, base)
	}
	must(t, os.WriteFile(llm, []byte(text), 0o600))
	gw, _, err := providers.New(providers.Config{
		Getenv:  func(string) string { return "" },
		Keys:    func(string) (string, error) { return "key", nil },
		LLMPath: llm,
		Transport: &farEnd{handler: scripted.NewHandler(scripted.HandlerConfig{
			Dir: "testdata", Script: cfg.script,
		})},
	})
	must(t, err)
	return caller{gw}
}

// caller tells the far end whose call it is, as a script's conditions ask.
type caller struct{ *model.Gateway }

type identityKey struct{}

func (c caller) Call(ctx context.Context, slot string, params model.Params, onDelta func(model.Delta)) (*model.Result, error) {
	return c.Gateway.Call(context.WithValue(ctx, identityKey{}, params.Identity), slot, params, onDelta)
}

// farEnd answers requests in this process.
type farEnd struct{ handler http.Handler }

func (f *farEnd) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if id, ok := req.Context().Value(identityKey{}).(model.Identity); ok {
		req.Header.Set("X-Covel-Slot", id.Slot)
		req.Header.Set("X-Covel-Runtime", id.RuntimeID)
		req.Header.Set("X-Covel-Turn", strconv.Itoa(id.Turn))
		req.Header.Set("X-Covel-Step", strconv.Itoa(id.Step))
	}
	answer := httptest.NewRecorder()
	f.handler.ServeHTTP(answer, req)
	resp := answer.Result()
	resp.Request = req
	return resp, nil
}

// say plays one player turn, and the continuation that opens the game.
func (g *game) say(message string) {
	g.t.Helper()
	g.turns++
	id := fmt.Sprintf("turn-%02d", g.turns)
	in := turn.Input{SessionID: g.session, TurnID: id, Origin: turn.OriginPlayer, PlayerMessage: message}
	scope := turn.Scope{SessionID: g.session, TurnID: id, ExecutionID: fmt.Sprintf("%s-run-%02d", g.session, g.turns)}
	committed := g.execute(scope, in)
	if !committed.EnteredPlaying {
		return
	}
	in.Origin, in.LogicalTurnID, in.SuppressPlayerMessage = turn.OriginContinuation, id, true
	in.TurnID = turn.ContinuationTurnID(id)
	scope.TurnID, scope.ExecutionID = in.TurnID, turn.ContinuationExecutionID(scope.ExecutionID)
	g.execute(scope, in)
}

// execute is the Turn workflow without Temporal.
func (g *game) execute(scope turn.Scope, in turn.Input) turn.CommitFacts {
	g.t.Helper()
	ctx := g.t.Context()
	plan, err := g.acts.BeginTurn(ctx, scope, in)
	must(g.t, err)
	for _, stage := range plan.Stages {
		g.stage(scope, stage)
	}
	for depth := 1; plan.Chain && depth <= 8; depth++ {
		next, err := g.acts.PlanFollowers(ctx, scope, depth)
		must(g.t, err)
		if len(next.Levels) == 0 {
			break
		}
		g.stage(scope, next)
	}
	facts, err := g.acts.CommitTurn(ctx, turn.CommitInput{Scope: scope})
	must(g.t, err)
	must(g.t, g.acts.FinishTurn(ctx, scope))
	if facts.Status != turn.StatusCommitted {
		g.t.Fatalf("turn %s ended %s: %s %s", scope.TurnID, facts.Status, facts.Code, facts.Message)
	}
	return facts
}

func (g *game) stage(scope turn.Scope, stage turn.StagePlan) {
	g.t.Helper()
	for level, specs := range stage.Levels {
		for _, spec := range specs {
			facts := g.runtime(scope, stage.Stage, level, spec)
			if facts.Status == turn.RuntimeFailed {
				g.t.Fatalf("turn %s: runtime %s failed: %s", scope.TurnID, spec.ID, facts.Code)
			}
		}
	}
}

func (g *game) runtime(scope turn.Scope, stage string, level int, spec turn.RuntimeSpec) turn.RuntimeFacts {
	g.t.Helper()
	ctx := g.t.Context()
	ready, err := g.acts.PrepareRuntime(ctx, turn.PrepareInput{Scope: scope, RuntimeID: spec.ID, Stage: stage, Level: level})
	must(g.t, err)
	if !ready.Run {
		return *ready.Facts
	}
	if spec.Agent == nil {
		facts, err := g.acts.RunFunction(ctx, turn.FunctionInput{Scope: scope, RuntimeID: spec.ID, Stage: stage, Level: level})
		must(g.t, err)
		return facts
	}
	agent := *spec.Agent
	agent.RuntimeID = spec.ID
	machine := agentloop.New(agent)
	command := machine.Start()
	for {
		switch {
		case command.CallModel != nil:
			c := command.CallModel
			reply, err := g.acts.CallModel(ctx, turn.CallModelInput{
				Scope: scope, RuntimeID: spec.ID, Stage: stage, Step: c.Step, Length: c.Length, Notes: c.Notes,
				ToolChoice: c.ToolChoice, Finalizer: c.Finalizer, TimeLeftMs: c.TimeLeftMs,
			})
			must(g.t, err)
			command = machine.ModelReplied(reply)
		case command.RunTools != nil:
			command = g.tools(scope, stage, spec.ID, machine, command.RunTools)
		default:
			f, facts := command.Finish, machine.Facts()
			out, err := g.acts.FinishRuntime(ctx, turn.FinishInput{
				Scope: scope, RuntimeID: spec.ID, Stage: stage, Level: level, Length: f.Length, Ending: f.Ending, Tool: f.Tool,
				Code: f.Code, Message: f.Message, Steps: facts.Steps, Usage: facts.Usage, CostMicroUSD: facts.CostMicroUSD,
				CapturedAt: f.CapturedAt, Parts: f.Parts,
			})
			must(g.t, err)
			return out
		}
	}
}

func (g *game) tools(scope turn.Scope, stage, runtimeID string, machine *agentloop.Machine, batch *agentloop.RunTools) agentloop.Command {
	g.t.Helper()
	for i := batch.From; i < len(batch.Calls); i++ {
		outcome, err := g.acts.RunTool(g.t.Context(), turn.RunToolInput{
			Scope: scope, RuntimeID: runtimeID, Stage: stage, CallID: batch.Calls[i].ID, Reply: batch.Reply, At: batch.Reply + 1 + i,
			Cancelled: batch.Cancelled, Because: batch.Because,
		})
		must(g.t, err)
		if next := machine.ToolFinished(outcome); next != (agentloop.Command{}) {
			return next
		}
	}
	return agentloop.Command{}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
