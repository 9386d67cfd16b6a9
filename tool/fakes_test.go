package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// fakePackages stands for the active packages of a session.
type fakePackages struct {
	tools  []plugin.Tool
	events []plugin.EventDecl
	// data maps a namespace to the schema of its values.
	data map[string]string
}

func (f fakePackages) Tools(string) []plugin.Tool { return f.tools }
func (f fakePackages) Events() []plugin.EventDecl { return f.events }
func (f fakePackages) CheckEvent(topic string, data json.RawMessage) error {
	var topics []string
	for _, e := range f.events {
		topics = append(topics, e.Topic)
		if e.Topic != topic {
			continue
		}
		s, err := plugin.CompileSchema(e.Schema)
		if err != nil {
			return err
		}
		return s.Validate(data)
	}
	return fmt.Errorf("topic %q is not known; known topics: %v", topic, topics)
}

func (f fakePackages) CheckDatum(pluginID, namespace, key string, value []byte) error {
	refuse := func(problem string) error {
		return turn.Errorf("check", "VALIDATION_ERROR", "namespace %q, key %q of plugin %s: %s", namespace, key, pluginID, problem)
	}
	raw, ok := f.data[namespace]
	switch {
	case !ok:
		return refuse("the namespace is not declared")
	case len(value) > plugin.MaxDatumBytes:
		return refuse("the value is too long")
	}
	s, err := plugin.CompileSchema([]byte(raw))
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return refuse(err.Error())
	}
	return nil
}

type fakeData map[string]json.RawMessage

func (d fakeData) Get(_ context.Context, ns, key string) (json.RawMessage, error) {
	return d[ns+"/"+key], nil
}
func (d fakeData) List(_ context.Context, ns, after string, limit int) ([]session.PluginDatum, error) {
	var rows []session.PluginDatum
	for _, key := range []string{"a", "b", "c", "d"} {
		if v := d[ns+"/"+key]; v != nil && key > after && len(rows) < limit {
			rows = append(rows, session.PluginDatum{Key: key, Value: v})
		}
	}
	return rows, nil
}

type fakeWorld struct{ provider string }

func (w fakeWorld) Recall(_ context.Context, query string, limit int) ([]Recollection, error) {
	return []Recollection{{Source: "messages", Ref: "t1", Text: query}, {Source: "archival:plugin_data", Text: "row"}}, nil
}

func (w fakeWorld) Memory(_ context.Context, req MemoryRequest) (json.RawMessage, string, error) {
	switch {
	case w.provider == "":
		return nil, "", ErrNoProvider
	case req.Key != "goals":
		return json.RawMessage("null"), w.provider, nil
	case req.Op == "get":
		return json.RawMessage(`{"key":"goals","label":"Goals","content":"x"}`), w.provider, nil
	}
	return json.RawMessage(`{"namespace":"blocks","key":"goals","value":{"label":"Goals","content":"` + req.Content + `"}}`), w.provider, nil
}

func registry(t *testing.T, cfg Config) *Registry {
	t.Helper()
	r, err := NewRegistry(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agent makes a runtime that has the named builtin tools.
func agent(builtin ...string) *plugin.Runtime {
	return &plugin.Runtime{ID: "p/x", PluginID: "p", Type: "agent", Agent: &plugin.Agent{BuiltinTools: builtin}}
}

func own(name string, run plugin.ToolHandler) plugin.Tool {
	return plugin.Tool{PluginID: "p", Run: run, ToolDecl: plugin.ToolDecl{
		Name: name, Description: "does " + name,
		Input: json.RawMessage(`{"type":"object","properties":{"note":{"type":"string"}},"additionalProperties":false}`),
	}}
}

func answers(text string) plugin.ToolHandler {
	return func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
		return plugin.ToolResult{Summary: text}, nil
	}
}

// bundle is a set with every builtin tool and a call's view.
type bundle struct {
	set  Set
	call Call
}

func setup(t *testing.T) *bundle {
	t.Helper()
	pkgs := fakePackages{
		events: []plugin.EventDecl{
			{Topic: "check.resolved", Description: "A check ended.", Advertise: true, Schema: json.RawMessage(`{"type":"object","required":["outcome"],"properties":{"outcome":{"type":"string"}}}`)},
			{Topic: "quiet.one", Schema: json.RawMessage(`{}`)},
		},
		data: map[string]string{"notes": `{"type":"object","required":["text"]}`, "blocks": `{}`},
	}
	return &bundle{
		set: registry(t, Config{}).forRuntime(agent(BuiltinNames()...), pkgs),
		call: Call{ID: "c1", World: fakeWorld{provider: "memory"}, Staged: "staged notice", View: plugin.View{
			PluginID: "p", RuntimeID: "p/x",
			Data: fakeData{"notes/a": json.RawMessage(`{"text":"one"}`), "notes/b": json.RawMessage(`{"text":"two"}`), "notes/c": json.RawMessage(`{"text":"three"}`)},
			Characters: []session.Character{
				{ID: "npc-lamp-warden", Name: "The Warden", Type: "npc", Aliases: []string{"Keeper"}, Fields: json.RawMessage(`{"nerve":3}`)},
				{ID: "npc-twin-1", Name: "Twin", Type: "npc"}, {ID: "npc-twin-2", Name: "twin", Type: "npc"},
			},
			Dimensions: json.RawMessage(`{"reputation":{"name":"Reputation","schema":{"type":"integer"},"value":0,"version":1,"initialValue":0,"updateRule":"r","lastTrackedSource":"t"},` +
				`"ledger":{"schema":{},"value":{"rows":["x","y"],"01":"z"},"version":4}}`),
		}},
	}
}

func (b *bundle) run(name, args string) Outcome {
	c := b.call
	c.Name, c.Arguments = name, args
	return b.set.Run(context.Background(), c)
}

func wantCode(t *testing.T, out Outcome, code string, naming ...string) {
	t.Helper()
	if out.OK || out.Code != code || !strings.HasPrefix(out.Result, `{"ok":false,"error":{"code":"`+code+`"`) || !json.Valid([]byte(out.Result)) {
		t.Fatalf("outcome %+v, want code %s", out, code)
	}
	for _, n := range naming {
		if !strings.Contains(out.Result, n) {
			t.Errorf("result %s does not name %s", out.Result, n)
		}
	}
	if len(out.Proposals)+len(out.Events) > 0 {
		t.Errorf("a failed call proposes %+v", out)
	}
}

func wantResult(t *testing.T, out Outcome, want string) {
	t.Helper()
	if !out.OK || out.Result != want {
		t.Errorf("result %s\nwant   %s", out.Result, want)
	}
}

// buffer keeps an outcome's proposals as the loop does.
func (b *bundle) buffer(out Outcome) {
	for _, p := range out.Proposals {
		b.call.Pending = append(b.call.Pending, turn.Proposal{Type: p.Type, Payload: p.Payload, Source: turn.ProposalSource{PluginID: "p"}})
	}
	for _, e := range out.Events {
		b.call.EmittedTopics = append(b.call.EmittedTopics, e.Topic)
	}
}

func names(tools []model.Tool) string {
	var list []string
	for _, t := range tools {
		list = append(list, t.Name)
	}
	return strings.Join(list, " ")
}
