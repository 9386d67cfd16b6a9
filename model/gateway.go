package model

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"

	"github.com/covel-engine/covel/model/transport"
)

// Gateway takes logical calls on slots (spec 04 §6). It is safe for concurrent
// use. Its memory is only the marks of what was warned about already.
type Gateway struct {
	config Config
	client *http.Client
	// chainConfig is what client's transport was made of.
	chainConfig transport.Config
	guard       *transport.Guard // nil with a transport of the caller's own
	memory      Memory
	warned      sync.Map // subject → true
}

// Config assembles a Gateway.
type Config struct {
	// Adapters by protocol id; a slot whose protocol has none is refused when it
	// is called. Required.
	Adapters map[string]Adapter
	// Clock times budgets and waits. Defaults to the machine's clock.
	Clock Clock
	// Count counts a text's tokens with a named tokenizer. Defaults to
	// EstimateTokens for every name.
	Count func(tokenizer, text string) int
	// Dial opens a checked address. Defaults to a net.Dialer with 10 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// ForbidLoopback refuses localhost, as COVEL_LLM_ALLOW_LOOPBACK=false asks.
	// Defaults to false.
	ForbidLoopback bool
	// Hooks observe each target's attempt. Defaults to none.
	Hooks []Hook
	// Jitter gives the backoff factor, from 0.75 to 1.25. Defaults to a random one.
	Jitter func() float64
	// Keys gives the key of a provider id or key reference, "" for none; it is
	// asked right before each send. Defaults to the environment (EnvironmentKeys).
	Keys func(provider string) (string, error)
	// Lookup resolves a host name. Defaults to the machine's resolver.
	Lookup func(ctx context.Context, host string) ([]net.IP, error)
	// Media gives the bytes of a media reference. Defaults to none: a reference is
	// then refused.
	Media func(ctx context.Context, ref string) (data []byte, mediaType string, err error)
	// NoRetry sends each request once, as COVEL_LLM_RETRY_DISABLED=1 asks.
	// Defaults to false.
	NoRetry bool
	// OnWarning hears of slots that answer for another name. Defaults to silence.
	OnWarning func(text string)
	// Presets are more names to call, beside the slots. Defaults to none.
	Presets []*Slot
	// Slots is the checked llm.toml. Defaults to the storyteller in every slot.
	Slots *Slots
	// Table is the model table. Defaults to the embedded one.
	Table *Table
	// Transport carries requests in place of the guarded connection, for tests
	// and embedding programs that bring their own. Defaults to the guarded one.
	Transport http.RoundTripper
}

// NewGateway checks the config and gives a gateway.
func NewGateway(c Config) (*Gateway, error) {
	if len(c.Adapters) == 0 {
		return nil, Configf("model.Config.Adapters: empty; give at least the adapter of %s", ProtocolScripted)
	}
	for _, id := range sortedKeys(c.Adapters) {
		if protocols[id] == nil {
			return nil, Configf("model.Config.Adapters: unknown protocol %q; use one of %v", id, ProtocolIDs())
		}
	}
	if c.Slots == nil {
		c.Slots = ScriptedSlots("storyteller")
	}
	if c.Table == nil {
		t, err := LoadTable("")
		if err != nil {
			return nil, err
		}
		c.Table = t
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Keys == nil {
		c.Keys = EnvironmentKeys
	}
	for i, preset := range c.Presets {
		if preset.Name == "" || preset.Provider == "" || preset.Model == "" {
			return nil, Configf("model.Config.Presets[%d]: name %q, provider %q, model %q; all three are needed", i, preset.Name, preset.Provider, preset.Model)
		}
		if preset.Protocol != "" && protocols[preset.Protocol] == nil {
			return nil, Configf("model.Config.Presets[%d].Protocol: unknown protocol %q; use one of %v", i, preset.Protocol, ProtocolIDs())
		}
	}
	if c.Count == nil {
		c.Count = func(_, text string) int { return EstimateTokens(text) }
	}
	if c.Jitter == nil {
		c.Jitter = func() float64 { return 0.75 + rand.Float64()/2 }
	}
	g := &Gateway{config: c}
	base := c.Transport
	if base == nil {
		g.guard = transport.NewGuard(transport.GuardConfig{Dial: c.Dial, ForbidLoopback: c.ForbidLoopback, Lookup: c.Lookup})
		base = g.guard
	}
	g.chainConfig = transport.Config{Base: base, Clock: c.Clock, Jitter: c.Jitter, NoRetry: c.NoRetry}
	g.client = transport.Client(transport.New(g.chainConfig))
	return g, nil
}

// Close closes connections that no call uses.
func (g *Gateway) Close() {
	if g.guard != nil {
		g.guard.CloseIdleConnections()
	}
}

// Call makes one logical call; see Caller. With a nil onDelta the reply is not
// streamed.
func (g *Gateway) Call(ctx context.Context, slot string, params Params, onDelta func(Delta)) (*Result, error) {
	if onDelta == nil {
		return g.run(ctx, slot, params, nil, false)
	}
	return g.Stream(ctx, slot, params, func(e Event) {
		switch e.Kind {
		case EventText:
			onDelta(Delta{Text: e.Text})
		case EventReasoning:
			onDelta(Delta{Reasoning: e.Text})
		case EventToolArgument, EventToolCall, EventDone:
		}
	})
}

// Stream makes one streamed call and gives every event, the last one being
// done. Tool calls come after the terminal event of the provider only.
func (g *Gateway) Stream(ctx context.Context, slot string, params Params, onEvent func(Event)) (*Result, error) {
	result, err := g.run(ctx, slot, params, onEvent, false)
	if err != nil {
		return nil, err
	}
	last := *result
	last.Text, last.ToolCalls = "", nil
	onEvent(Event{Kind: EventDone, Result: &last})
	return result, nil
}

// run follows the chain until a target answers (spec 04 §6.1).
func (g *Gateway) run(ctx context.Context, slot string, params Params, onEvent func(Event), object bool) (*Result, error) {
	budget := params.Budget
	if budget == nil {
		var err error
		if budget, err = NewBudget(params.Limits, onEvent != nil, g.config.Clock); err != nil {
			return nil, err
		}
	}
	chain, err := g.chain(slot, params)
	if err != nil {
		return nil, err
	}
	call := &call{gateway: g, slot: slot, params: &params, budget: budget, onEvent: onEvent, chain: chain, object: object}
	return call.run(ctx)
}

// Object generates one JSON value that matches params.ResponseSchema (spec 04
// §14): the schema is what the model writes, decode what the caller makes of
// it. Tools, preferences and the cache key are left out. An answer that is no
// JSON, fails the schema or decode is SCHEMA_VALIDATION_FAILED.
func (g *Gateway) Object(ctx context.Context, slot string, params Params, decode func(json.RawMessage) error) (*Result, error) {
	schema, err := compileSchema(params.ResponseSchema)
	if err != nil {
		return nil, err
	}
	result, err := g.run(ctx, slot, params, nil, true)
	if err != nil {
		return nil, err
	}
	value := json.RawMessage(withoutThoughts(result.Text))
	if err := checkObject(schema, value, decode); err != nil {
		e := &Error{Code: CodeSchema, Message: "slot " + slot + ": the answer does not match its schema: " + err.Error(), Err: err, Records: result.Records}
		return nil, e.withUsage(&result.Usage)
	}
	result.Text = string(value)
	return result, nil
}

// ResolveFor says what a slot name stands for in one request, its bindings
// applied.
func (g *Gateway) ResolveFor(slot string, params Params) (Target, error) {
	b, err := g.bindSlot(slot, &params)
	if err != nil {
		return Target{}, err
	}
	return b.target, nil
}

// Resolve says what a slot name stands for, without bindings.
func (g *Gateway) Resolve(slot string) (Target, error) {
	s, err := g.resolve(slot)
	if err != nil {
		return Target{}, err
	}
	return g.config.Table.bind(s, Binding{}).target, nil
}
