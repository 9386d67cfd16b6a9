package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/covel-engine/covel/plugin"
)

// FuzzRun gives every builtin tool any text: the outcome is always one JSON
// object, and a failed call proposes nothing.
func FuzzRun(f *testing.F) {
	for _, args := range []string{``, `{}`, `[1]`, `not json`, `{"namespace":"notes","key":"a","value":1}`, `{"name":"The Warden","type":"npc"}`,
		`{"queries":[{"dimension":"ledger","path":"/rows/0"}]}`, `{"create":[],"update":[{"character":"x"}]}`, `{"topic":"check.resolved","data":{"outcome":"x"}}`,
		`{"reason":"r","deadlineMs":1e3}`, `{"query":"lamp","limit":2.0}`, `{"title":"\ud800","fields":[]}`, strings.Repeat("[", 1000)} {
		f.Add(args)
	}
	reg, err := NewRegistry(Config{})
	if err != nil {
		f.Fatal(err)
	}
	set := reg.forRuntime(agent(BuiltinNames()...), fakePackages{data: map[string]string{"notes": `{}`}})
	view := plugin.View{PluginID: "p", RuntimeID: "p/x", Data: fakeData{}, Dimensions: json.RawMessage(`{"ledger":{"value":{"rows":[1]},"version":1}}`)}
	f.Fuzz(func(t *testing.T, args string) {
		_ = ArgumentHash(args)
		for _, name := range BuiltinNames() {
			out := set.Run(context.Background(), Call{ID: "c", Name: name, Arguments: args, View: view, World: fakeWorld{provider: "memory"}})
			if !json.Valid([]byte(out.Result)) || out.Result[0] != '{' {
				t.Fatalf("%s(%q) answers %s", name, args, out.Result)
			}
			if !out.OK && (out.Code == "" || len(out.Proposals)+len(out.Events)+len(out.Notifications) > 0 || out.Suspend != nil) {
				t.Fatalf("%s(%q) failed as %+v", name, args, out)
			}
			for _, p := range out.Proposals {
				if !json.Valid(p.Payload) {
					t.Fatalf("%s(%q) proposes %s", name, args, p.Payload)
				}
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	reg, err := NewRegistry(Config{})
	if err != nil {
		b.Fatal(err)
	}
	set := reg.forRuntime(agent("plugin-data-set"), fakePackages{data: map[string]string{"notes": `{}`}})
	call := Call{ID: "c", Name: "plugin-data-set", Arguments: `{"namespace":"notes","key":"a","value":{"text":"one"}}`}
	b.ReportAllocs()
	for b.Loop() {
		if !set.Run(context.Background(), call).OK {
			b.Fatal("failed")
		}
	}
}
