package plugin

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRegisteredToolsCarryTheirDefinition(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"p/PLUGIN.md": {Data: []byte("---\nid: p\nkind: plugin\ndescription: d\nentry: go:p\ncontributes:\n  tools: [roll, bare]\n---\n")}}
	run := func(context.Context, ToolCall) (ToolResult, error) { return ToolResult{}, nil }
	gen, findings, err := Load(Config{Bundled: files, Handlers: Handlers{Entries: map[string]Registration{"p": {
		Tools:       map[string]ToolHandler{"roll": run, "bare": run},
		Definitions: map[string]ToolDefinition{"roll": {Description: "Roll.", Input: []byte(`{"type":"object","required":["n"]}`), Idempotent: true}},
	}}}})
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	active := gen.Active([]string{"p"})
	roll, _ := active.Tool("p", "roll")
	if roll.Description != "Roll." || !roll.Idempotent || roll.Run == nil || roll.Schema.Validate([]byte(`{}`)) == nil {
		t.Errorf("%+v", roll)
	}
	bare, _ := active.Tool("p", "bare")
	if bare.Run == nil || bare.Schema.Validate([]byte(`{}`)) != nil || bare.Schema.Validate([]byte(`1`)) == nil {
		t.Errorf("%+v", bare)
	}
	if _, ok := active.Tool("p", "ghost"); ok {
		t.Error("a tool that is not declared exists")
	}
	if _, ok := gen.Active(nil).Tool("p", "roll"); ok {
		t.Error("a tool of an inactive package exists")
	}
}

func TestRegistrationOfUndeclaredItems(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"p/PLUGIN.md": {Data: []byte("---\nid: p\nkind: plugin\ndescription: d\nentry: go:p\n---\n")}}
	_, findings, err := Load(Config{Bundled: files, Handlers: Handlers{Entries: map[string]Registration{"p": {
		Hooks:      map[string]HookHandler{"TurnStart": nil},
		Segments:   map[string]SegmentHandler{"a": nil},
		Services:   map[string]ServiceHandler{"s@1": nil},
		Extensions: map[string]ExtensionHandler{"history.compact@2/x": nil},
	}}}})
	if err != nil || len(findings) != 4 {
		t.Fatalf("%v %v", findings, err)
	}
	for _, f := range findings {
		if f.Code != "registration-mismatch" || f.Line != 5 {
			t.Errorf("%v", f)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	if _, _, err := Load(Config{HostVersion: "one"}); err == nil || !strings.Contains(err.Error(), `HostVersion "one"`) {
		t.Errorf("%v", err)
	}
	if _, _, err := Load(Config{UserDir: "/does/not/exist"}); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("%v", err)
	}
	gen, findings, err := Load(Config{})
	if err != nil || len(findings) > 0 || len(gen.Plugins()) != 0 {
		t.Errorf("%v %v", findings, err)
	}
}
