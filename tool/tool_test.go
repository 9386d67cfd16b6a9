package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

func TestCases(t *testing.T) {
	t.Parallel()
	t.Run("TE-076", func(t *testing.T) {
		t.Parallel()
		ran := false
		pkgs := fakePackages{tools: []plugin.Tool{own("mark", func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			ran = true
			return plugin.ToolResult{}, nil
		})}}
		set := registry(t, Config{}).forRuntime(agent(), pkgs)
		wantCode(t, set.Run(t.Context(), Call{Name: "rm", Arguments: "{}"}), "UNAUTHORIZED", "rm")
		wantCode(t, set.Run(t.Context(), Call{Name: "mark", Arguments: `{"note":7}`}), "VALIDATION_ERROR", `"field":"note"`)
		wantCode(t, set.Run(t.Context(), Call{Name: "mark", Arguments: `[1]`}), "INVALID_ARGS")
		if ran {
			t.Error("a refused call was executed")
		}
	})
	t.Run("TE-078", func(t *testing.T) {
		t.Parallel()
		rt := agent("get-character")
		rt.Agent.PluginTools, rt.Agent.Defer = []string{"fly", "swim"}, []string{"fly", "swim"}
		set := registry(t, Config{}).forRuntime(rt, fakePackages{tools: []plugin.Tool{own("fly", answers("flew")), own("swim", answers("swam"))}})
		if got := names(set.Offered(nil)); got != "get-character search-tools runtime-done" {
			t.Errorf("first request offers %s", got)
		}
		found := set.Run(t.Context(), Call{ID: "s1", Name: "search-tools", Arguments: `{"query":"fly"}`})
		transcript := []model.Message{
			{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "s1", Name: "search-tools"}}},
			{Role: model.RoleTool, ToolCallID: "s1", Content: found.Result},
		}
		if got := names(set.Offered(set.Loaded(transcript))); got != "get-character search-tools fly runtime-done" {
			t.Errorf("second request offers %s", got)
		}
		wantResult(t, set.Run(t.Context(), Call{Name: "fly", Arguments: ""}), `{"ok":true,"summary":"flew"}`)
	})
	t.Run("TE-112", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		out := b.run("suspend", `{"reason":"wait"}`)
		wantResult(t, out, `{"suspended":true}`)
		if diff := cmp.Diff(&plugin.SuspendMark{Reason: "wait"}, out.Suspend); diff != "" {
			t.Error(diff)
		}
		wantCode(t, Cancelled(turn.CancelSuspended), "CANCELLED", "skipped because an earlier call suspended")
	})
	t.Run("TE-116", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.call.NoSuspend = true
		wantCode(t, b.run("suspend", `{"reason":"wait"}`), "DENIED", "Nested suspend is not supported")
	})
	t.Run("TE-118", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantCode(t, b.run("suspend", `{"reason":"wait","deadlineMs":0}`), "VALIDATION_ERROR", "deadlineMs")
		for _, mark := range []plugin.SuspendMark{{ResumeSchema: json.RawMessage(`{"type":7}`)}, {DeadlineMs: -1}} {
			set := registry(t, Config{}).forRuntime(agent(), fakePackages{tools: []plugin.Tool{own("pause", func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
				return plugin.ToolResult{Suspend: &mark}, nil
			})}})
			field := "deadlineMs"
			if mark.ResumeSchema != nil {
				field = "resumeSchema"
			}
			wantCode(t, set.Run(t.Context(), Call{Name: "pause"}), "VALIDATION_ERROR", field)
		}
	})
	t.Run("AF-084", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		value := `"` + strings.Repeat("x", 65_535) + `"` // 65,537 bytes
		wantCode(t, b.run("plugin-data-set", `{"namespace":"notes","key":"big","value":`+value+`}`), "VALIDATION_ERROR", "notes", "big")
	})
	t.Run("AF-085", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		out := b.run("plugin-data-set-batch", `{"namespace":"notes","entries":[{"key":"k1","value":{"text":"a"}},{"key":"k2","value":{}},{"key":"k3","value":{"text":"b"}}]}`)
		wantCode(t, out, "VALIDATION_ERROR", "k2", "entries[1].value")
	})
	t.Run("AF-086", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantCode(t, b.run("plugin-data-set", `{"namespace":"_dimensions","key":"k","value":1}`), "VALIDATION_ERROR", "namespace")
	})
	t.Run("AF-087", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantCode(t, b.run("plugin-data-get", `{"namespace":"_hidden.modifiers","key":"k"}`), "VALIDATION_ERROR", "namespace")
		wantCode(t, b.run("plugin-data-list", `{"namespace":"_hidden.modifiers"}`), "VALIDATION_ERROR", "namespace")
	})
	t.Run("AF-107", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantCode(t, b.run("update-affinity", `not json`), "UNAUTHORIZED", "update-affinity")
	})
	t.Run("AF-108", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantCode(t, b.run("get-character", `not json`), "INVALID_ARGS")
		wantCode(t, b.run("world-dimension-get", `{"queries":[]}`), "VALIDATION_ERROR", `"details":[{"field":"queries"`)
	})
	t.Run("AF-109", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		six := strings.TrimSuffix(strings.Repeat(`{"name":"N","type":"npc"},`, 6), ",")
		wantCode(t, b.run("sync-characters", `{"create":[`+six+`],"update":[]}`), "VALIDATION_ERROR", "create")
		wantResult(t, b.run("sync-characters", `{"create":[],"update":[]}`), `{"ok":true,"summary":"No character changed."}`)
	})
	t.Run("AF-110", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, want := range []string{"npc-old-pilot", "npc-old-pilot-2", "npc-old-pilot-3"} {
			out := b.run("create-character", `{"name":"Old Pilot","type":"npc"}`)
			wantResult(t, out, `{"ok":true,"summary":"1 created, 0 updated","data":{"created":["`+want+`"],"updated":[]},"staged":"staged notice"}`)
			b.buffer(out)
		}
	})
	t.Run("AF-146", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		wantResult(t, b.run("world-dimension-get", `{"queries":[{"dimension":"reputation"},{"dimension":"ledger","path":"/rows/1"},{"dimension":"ledger","path":"/rows/01"},{"dimension":"ledger","path":"/01"}]}`),
			`{"ok":true,"summary":"4 values","data":{"results":[{"dimension":"reputation","name":"Reputation","schema":{"type":"integer"},"value":0,"version":1},`+
				`{"dimension":"ledger","path":"/rows/1","found":true,"value":"y","version":4},{"dimension":"ledger","path":"/rows/01","found":false,"version":4},`+
				`{"dimension":"ledger","path":"/01","found":true,"value":"z","version":4}]}}`)
		wantResult(t, b.run("world-dimension-list", `{"limit":1}`),
			`{"ok":true,"summary":"1 of 2 dimensions","data":{"total":2,"dimensions":[{"dimension":"reputation","name":"Reputation","schema":{"type":"integer"},"value":0,"version":1}],"nextOffset":1}}`)
		b.call.View.Locale = "zh-CN"
		b.call.View.Dimensions = json.RawMessage(`{"law":{"name":{"en":"Law","zh":"法"},"schema":{"properties":{"text":{"x-i18n":true}}},"value":{"text":{"en":"Pay.","zh":"付。"},"n":1},"version":2}}`)
		wantResult(t, b.run("world-dimension-get", `{"queries":[{"dimension":"law","path":"/text"}]}`),
			`{"ok":true,"summary":"1 values","data":{"results":[{"dimension":"law","path":"/text","found":true,"value":"付。","version":2}]}}`)
		wantResult(t, b.run("world-dimension-list", `{}`),
			`{"ok":true,"summary":"1 of 1 dimensions","data":{"total":1,"dimensions":[{"dimension":"law","name":"法","schema":{"properties":{"text":{"x-i18n":true}}},"value":{"text":"付。","n":1},"version":2}]}}`)
		b = setup(t)
		wantCode(t, b.run("world-dimension-get", `{"queries":[{"dimension":"fame"}]}`), "VALIDATION_ERROR", "queries[0].dimension", "reputation, ledger")
	})
	t.Run("TE-096", func(t *testing.T) {
		t.Parallel()
		for in, want := range map[string]string{
			"<think>plan</think>\nThe gate opens.":    "The gate opens.",
			" <THINKING>a\nb</THINKING>x<think>open":  "x<think>open",
			"a\r\n\tb\x00\x07\u0085c":                 "a\n\tbc",
			"\ue000COVEL_CACHE_BREAK\ue000The end.\n": "The end.",
			"<think>a</think> ":                       "",
		} {
			if got := SanitiseStory(in); got != want {
				t.Errorf("%q gives %q, want %q", in, got, want)
			}
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	tools := map[string]plugin.ToolHandler{
		"panics": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) { panic("boom") },
		"hangs": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			<-release
			return plugin.ToolResult{}, nil
		},
		"fails": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{}, errors.New("down")
		},
		"huge": answers(strings.Repeat("x", 300<<10)),
		"broken": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Data: json.RawMessage(`{`)}, nil
		},
		"refuses": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Code: "VALIDATION_ERROR", Message: "no", Details: json.RawMessage(`[{"field":"x","message":"y"}]`), Proposals: []plugin.ProposedWrite{{}}}, nil
		},
		"writes": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: json.RawMessage(`{"namespace":"none","key":"k","value":1}`)}}}, nil
		},
		"plain": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Text: "just text"}, nil
		},
		"ids": func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "s", Data: json.RawMessage(`{"b":"<&>","sessionId":"x","id":"0190c1de-1111-7222-8333-444455556666","a":1}`)}, nil
		},
	}
	var list []plugin.Tool
	for name, run := range tools {
		list = append(list, own(name, run))
	}
	list = append(list, own("remote", nil))
	set := registry(t, Config{}).forRuntime(agent("plugin-data-get", "no-such-builtin"), fakePackages{tools: list})
	hasty := registry(t, Config{CallTimeout: 20 * time.Millisecond}).forRuntime(agent(), fakePackages{tools: list})
	run := func(name, args string) Outcome { return set.Run(t.Context(), Call{Name: name, Arguments: args}) }
	wantCode(t, run("panics", ""), "EXECUTION_ERROR", "panicked: boom")
	wantCode(t, hasty.Run(t.Context(), Call{Name: "hangs"}), "EXECUTION_ERROR", "20ms")
	wantCode(t, run("fails", ""), "EXECUTION_ERROR", "down")
	wantCode(t, run("huge", ""), "EXECUTION_ERROR", "262144")
	wantCode(t, run("broken", ""), "EXECUTION_ERROR")
	wantCode(t, run("refuses", ""), "VALIDATION_ERROR", `"details":[{"field":"x","message":"y"}]`)
	wantCode(t, run("writes", ""), "VALIDATION_ERROR", "none")
	wantCode(t, run("remote", ""), "NOT_FOUND", "remote")
	wantCode(t, run("no-such-builtin", "not json"), "NOT_FOUND", "no-such-builtin")
	wantResult(t, run("plain", ""), "just text")
	wantResult(t, run("ids", ""), `{"ok":true,"summary":"s","data":{"b":"<&>","a":1}}`)
	if data := string(run("ids", "").Data); !strings.Contains(data, `"sessionId":"x"`) {
		t.Errorf("data for code is projected: %s", data)
	}
	wantCode(t, run("plain", `{"note":"`+strings.Repeat("x", 64<<10)+`"}`), "INVALID_ARGS", "65536")
	wantCode(t, run("plain", `{"note":`+strings.Repeat("[", 65)+strings.Repeat("]", 65)+`}`), "INVALID_ARGS", "nested")
	wantCode(t, run("plain", strings.Repeat(`{"a":`, 12_000)), "INVALID_ARGS", "nested")
	wantCode(t, run("plain", `{"note":"x"} {}`), "INVALID_ARGS")
	wantCode(t, run("plain", `{"more":1}`), "VALIDATION_ERROR", "more")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	wantCode(t, set.Run(ctx, Call{Name: "hangs"}), "CANCELLED")
	wantCode(t, set.Run(ctx, Call{Name: "hangs", Arguments: "[]"}), "INVALID_ARGS")

	denied := registry(t, Config{Deny: func(_ context.Context, pluginID, tool string) (string, bool) {
		return pluginID + " may not " + tool, true
	}})
	wantCode(t, denied.forRuntime(agent(), fakePackages{tools: list}).Run(t.Context(), Call{Name: "plain", Arguments: "[]"}), "DENIED", "p may not plain")
	loud := registry(t, Config{}).forRuntime(agent(), fakePackages{tools: []plugin.Tool{own("loud", func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
		return plugin.ToolResult{Code: `A"B`, Message: strings.Repeat("灯", 99_999), Details: json.RawMessage(`"` + strings.Repeat("x", 99_999) + `"`)}, nil
	})}}).Run(t.Context(), Call{Name: "loud"})
	if len(loud.Result) > 10_000 || !json.Valid([]byte(loud.Result)) || loud.Code != `A"B` {
		t.Errorf("a loud refusal gives %d bytes, code %s", len(loud.Result), loud.Code)
	}
	wantCode(t, Lost(), "OUTCOME_UNKNOWN")
	wantCode(t, Late(), "EXECUTION_ERROR")

	for field, cfg := range map[string]Config{"MaxResultBytes": {MaxResultBytes: -1}, "CallTimeout": {CallTimeout: -1}} {
		if _, err := NewRegistry(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("config with bad %s: %v", field, err)
		}
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	reg := registry(t, Config{})
	pkgs := fakePackages{tools: []plugin.Tool{own("zeta", nil), own("alpha", nil)}}
	for name, c := range map[string]struct {
		change func(rt *plugin.Runtime)
		want   string
		done   bool // an authorised call of runtime-done succeeds
	}{
		"declared order":       {func(*plugin.Runtime) {}, "memory-search get-character zeta alpha runtime-done", true},
		"story":                {func(rt *plugin.Runtime) { rt.IO.Visibility = plugin.VisibilityStory }, "memory-search get-character zeta alpha", true},
		"output schema":        {func(rt *plugin.Runtime) { rt.IO.Output.Schema = json.RawMessage(`{"type":"object"}`) }, "memory-search get-character zeta alpha", false},
		"tool use, completing": {func(rt *plugin.Runtime) { rt.Agent.Require, rt.Agent.AfterTools = "tool-use", []string{"zeta"} }, "memory-search get-character zeta alpha", true},
		"everything deferred":  {func(rt *plugin.Runtime) { rt.Agent.DeferAll = true }, "search-tools runtime-done", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := agent("memory-search", "get-character")
			c.change(rt)
			set := reg.forRuntime(rt, pkgs)
			if got := names(set.Offered(nil)); got != c.want {
				t.Errorf("offers %s, want %s", got, c.want)
			}
			if got := set.Run(t.Context(), Call{Name: "runtime-done"}).OK; got != c.done {
				t.Errorf("runtime-done ok %v, want %v", got, c.done)
			}
			if set.OffersDone() != strings.HasSuffix(c.want, "runtime-done") {
				t.Error("OffersDone and the offered tools disagree")
			}
		})
	}
	if got := names(reg.forRuntime(agent("runtime-done", "search-tools", "suspend"), fakePackages{}).Offered(nil)); got != "suspend runtime-done" {
		t.Errorf("a runtime that names the loop's tools is offered %s", got)
	}
	fn := &plugin.Runtime{ID: "p/f", PluginID: "p", Function: &plugin.Function{BuiltinTools: []string{"get-character"}}}
	if got := names(reg.forRuntime(fn, fakePackages{}).Offered(nil)); got != "get-character" {
		t.Errorf("a function has %s", got)
	}
	set := reg.forRuntime(agent("suspend"), fakePackages{tools: []plugin.Tool{own("once", nil), {PluginID: "p", ToolDecl: plugin.ToolDecl{Name: "again", Idempotent: true}}}})
	if !set.Remote("once") || set.Remote("again") || set.Remote("suspend") || set.Remote("nothing") {
		t.Error("Remote is wrong")
	}
	if diff := cmp.Diff([]string{"suspend", "once", "again"}, set.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestBuiltinTools(t *testing.T) { //nolint:tparallel // the sub-tests share one run
	t.Parallel()
	b := setup(t)
	proposal := func(out Outcome) string {
		if len(out.Proposals) != 1 {
			t.Fatalf("outcome %+v, want one proposal", out)
		}
		return out.Proposals[0].Type + " " + string(out.Proposals[0].Payload)
	}
	t.Run("forms", func(t *testing.T) {
		out := b.run("create-form", `{"title":"T","fields":[{"id":"f","label":"L","type":"select","options":["x"]}]}`)
		if got := proposal(out); !strings.HasPrefix(got, `interaction.request {"interactionId":"form-`) || !strings.HasSuffix(got, `","type":"form","title":"T","fields":[{"id":"f","label":"L","type":"select","options":["x"]}]}`) {
			t.Errorf("proposal %s", got)
		}
		if again := b.run("create-form", `{"title":"T","fields":[{"id":"f","label":"L","type":"text"}]}`); proposal(again)[:40] != proposal(out)[:40] {
			t.Error("another attempt of the call shows another interaction")
		}
		wantCode(t, b.run("create-form", `{"title":"T","fields":[{"id":"f","label":"L","type":"select"}]}`), "VALIDATION_ERROR", "options")
		wantCode(t, b.run("create-form", `{"title":"T","fields":[{"id":"f","label":"L","type":"text"},{"id":"f","label":"L","type":"text"}]}`), "VALIDATION_ERROR", "fields[1].id")
		wantCode(t, b.run("create-choices", `{"prompt":"P","choices":[{"id":"a","label":"A"}]}`), "VALIDATION_ERROR", "choices")
		if got := proposal(b.run("create-choices", `{"prompt":"P","choices":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}`)); !strings.Contains(got, `"type":"choices"`) {
			t.Errorf("proposal %s", got)
		}
		note := b.run("create-notification", `{"level":"info","message":"hi"}`)
		if len(note.Notifications) != 1 || string(note.Notifications[0]) != `{"level":"info","message":"hi"}` {
			t.Errorf("notification %+v", note)
		}
		wantCode(t, b.run("create-notification", `{"level":"info","message":"`+strings.Repeat("x", 201)+`"}`), "VALIDATION_ERROR", "message")
	})
	t.Run("data", func(t *testing.T) {
		b := setup(t)
		wantResult(t, b.run("plugin-data-get", `{"namespace":"notes","key":"a"}`), `{"ok":true,"summary":"notes/a","data":{"text":"one"}}`)
		wantResult(t, b.run("plugin-data-get", `{"namespace":"notes","key":"z"}`), `{"ok":true,"summary":"notes/z is absent","data":null}`)
		wantResult(t, b.run("plugin-data-list", `{"namespace":"notes","limit":2}`), `{"ok":true,"summary":"2 rows of notes","data":{"rows":[{"key":"a","value":{"text":"one"}},{"key":"b","value":{"text":"two"}}],"next":"b"}}`)
		out := b.run("plugin-data-set", `{"namespace":"notes","key":"aa","value":{"text":"new"}}`)
		if got := proposal(out); got != `plugin.data {"namespace":"notes","key":"aa","value":{"text":"new"}}` {
			t.Errorf("proposal %s", got)
		}
		b.buffer(out)
		b.buffer(b.run("plugin-data-set-batch", `{"namespace":"notes","entries":[{"key":"b","value":{"text":"2"}},{"key":"zz","value":{"text":"z"}}]}`))
		wantResult(t, b.run("plugin-data-get", `{"namespace":"notes","key":"aa"}`), `{"ok":true,"summary":"notes/aa","data":{"text":"new"}}`)
		wantResult(t, b.run("plugin-data-list", `{"namespace":"notes","limit":2}`), `{"ok":true,"summary":"3 rows of notes","data":{"rows":[{"key":"a","value":{"text":"one"}},{"key":"aa","value":{"text":"new"}},{"key":"b","value":{"text":"2"}}],"next":"b"}}`)
		wantResult(t, b.run("plugin-data-list", `{"namespace":"notes","limit":2,"after":"b"}`), `{"ok":true,"summary":"2 rows of notes","data":{"rows":[{"key":"c","value":{"text":"three"}},{"key":"zz","value":{"text":"z"}}]}}`)
		wantCode(t, b.run("plugin-data-set-batch", `{"namespace":"notes","entries":[{"key":"b","value":{"text":"2"}},{"key":"b","value":{"text":"z"}}]}`), "VALIDATION_ERROR", "entries[1].key")
		wantCode(t, b.run("plugin-data-list", `{"namespace":"notes","limit":101}`), "VALIDATION_ERROR", "limit")
	})
	t.Run("characters", func(t *testing.T) {
		b := setup(t)
		wantResult(t, b.run("get-character", `{"name":"keeper"}`), `{"ok":true,"summary":"The Warden","data":{"id":"npc-lamp-warden","name":"The Warden","type":"npc","aliases":["Keeper"],"fields":{"nerve":3}}}`)
		wantCode(t, b.run("get-character", `{"name":"TWIN"}`), "VALIDATION_ERROR", "npc-twin-1, npc-twin-2")
		wantCode(t, b.run("get-character", `{"name":"nobody"}`), "VALIDATION_ERROR", `"field":"name"`)
		wantResult(t, b.run("list-characters", `{"type":"npc","limit":1}`), `{"ok":true,"summary":"1 of 3 characters","data":{"characters":[{"id":"npc-lamp-warden","name":"The Warden","type":"npc","aliases":["Keeper"]}],"total":3}}`)
		out := b.run("update-character", `{"character":"The Warden","fields":{"nerve":4,"rank":1}}`)
		if got := proposal(out); got != `character.upsert {"id":"npc-lamp-warden","fields":{"nerve":4,"rank":1}}` {
			t.Errorf("proposal %s", got)
		}
		b.buffer(out)
		wantResult(t, b.run("get-character", `{"name":"npc-lamp-warden"}`), `{"ok":true,"summary":"The Warden","data":{"id":"npc-lamp-warden","name":"The Warden","type":"npc","aliases":["Keeper"],"fields":{"nerve":4,"rank":1}}}`)
		wantCode(t, b.run("create-character", `{"name":"X","type":"dragon"}`), "VALIDATION_ERROR", "npc, companion, player")
		wantCode(t, b.run("create-character", `{"name":"X","type":"npc","power":1}`), "VALIDATION_ERROR", "power")
		sync := b.run("sync-characters", `{"create":[{"name":"灯塔","type":"npc"},{"name":"灯","type":"player"}],"update":[{"character":"npc-twin-1","description":"d"}]}`)
		wantResult(t, sync, `{"ok":true,"summary":"2 created, 1 updated","data":{"created":["npc-1","player-1"],"updated":["npc-twin-1"]},"staged":"staged notice"}`)
		wantCode(t, b.run("sync-characters", `{"create":[{"name":"A","type":"npc"}],"update":[{"character":"who"}]}`), "VALIDATION_ERROR", "update[0].character")
	})
	t.Run("events", func(t *testing.T) {
		b := setup(t)
		out := b.run("emit-event", `{"topic":"check.resolved","data":{"outcome":"success"}}`)
		if diff := cmp.Diff([]turn.Event{{Topic: "check.resolved", Data: json.RawMessage(`{"outcome":"success"}`)}}, out.Events); diff != "" {
			t.Error(diff)
		}
		b.buffer(out)
		wantResult(t, b.run("emit-event", `{"topic":"check.resolved"}`), `{"ok":true,"summary":"skipped"}`)
		b = setup(t)
		wantCode(t, b.run("emit-event", `{"topic":"check.resolved"}`), "VALIDATION_ERROR", `"field":"data"`, "outcome")
		wantCode(t, b.run("emit-event", `{"topic":"check.lost"}`), "VALIDATION_ERROR", `"field":"topic"`, "check.resolved")
		for _, d := range b.set.Offered(nil) {
			if d.Name == "emit-event" && (!strings.Contains(d.Description, "check.resolved: A check ended.") || strings.Contains(d.Description, "quiet.one")) {
				t.Errorf("definition %s", d.Description)
			}
		}
	})
	t.Run("memory", func(t *testing.T) {
		b := setup(t)
		wantResult(t, b.run("memory-search", `{"query":"lamp","limit":1}`), `{"ok":true,"summary":"1 results","data":{"results":[{"source":"messages","ref":"t1","text":"lamp"}]}}`)
		wantResult(t, b.run("memory-get-block", `{"key":"goals"}`), `{"ok":true,"summary":"goals","data":{"key":"goals","label":"Goals","content":"x"}}`)
		wantCode(t, b.run("memory-get-block", `{"key":"none"}`), "VALIDATION_ERROR", "none")
		out := b.run("memory-update-block", `{"key":"goals","content":"y"}`)
		if got := proposal(out); got != `plugin.data {"namespace":"blocks","key":"goals","value":{"label":"Goals","content":"y"}}` || out.Owner != "memory" {
			t.Errorf("proposal %s of %s", got, out.Owner)
		}
		b.call.World = fakeWorld{}
		wantCode(t, b.run("memory-get-block", `{"key":"goals"}`), "NOT_FOUND", ContractMemory)
		b.call.World = nil
		wantCode(t, b.run("memory-update-block", `{"key":"goals","content":""}`), "NOT_FOUND", ContractMemory)
		wantCode(t, b.run("memory-search", `{"query":"lamp"}`), "NOT_FOUND")
	})
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	r := registry(t, Config{})
	if len(r.builtin) != len(BuiltinNames())+2 {
		t.Errorf("%d builtin tools, %d names", len(r.builtin), len(BuiltinNames()))
	}
	for _, name := range plugin.BuiltinTools { // what a manifest may name
		if _, ok := r.builtin[name]; !ok {
			t.Errorf("manifests may name %s, which is no builtin tool", name)
		}
	}
	if len(plugin.BuiltinTools) != len(r.builtin) {
		t.Errorf("manifests know %d builtin tools of %d", len(plugin.BuiltinTools), len(r.builtin))
	}
	files, err := definitions.ReadDir("builtin")
	if err != nil || len(files) != len(r.builtin) {
		t.Errorf("%d definition files for %d tools: %v", len(files), len(r.builtin), err)
	}
	for name, b := range r.builtin {
		if b.def.Name != name || b.def.Description == "" || !strings.HasPrefix(string(b.def.Parameters), `{"type":"object","properties":`) || !strings.Contains(string(b.def.Parameters), `"additionalProperties":false`) {
			t.Errorf("definition of %s: %+v", name, b.def)
		}
	}
}

func TestArgumentHash(t *testing.T) {
	t.Parallel()
	same := []string{`{"a":1,"b":{"c":[1,2],"d":"x"}}`, ` { "b" : {"d":"x","c":[1,2]}, "a":1 } `}
	if ArgumentHash(same[0]) != ArgumentHash(same[1]) || len(ArgumentHash("")) != 16 {
		t.Error("key order or white space changes the hash")
	}
	for _, other := range []string{`{"a":1,"b":{"c":[2,1],"d":"x"}}`, `{"a":"1","b":{"c":[1,2],"d":"x"}}`, "", "not json", `{"a":1}{"a":1}`} {
		if ArgumentHash(other) == ArgumentHash(same[0]) {
			t.Errorf("%s has the same hash", other)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	texts := []string{"the lamp on the tower", "a lamp, a lamp!", "灯塔的灯", "nothing here"}
	for query, want := range map[string][]int{"lamp": {1, 0}, "LAMP tower": {0, 1}, "灯": {2}, "gone": nil, "": nil, "?!": nil} {
		if diff := cmp.Diff(want, Rank(texts, query, 5), cmp.Transformer("empty", func(s []int) string { return fmt.Sprint(s) })); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	if got := Rank(texts, "lamp", 1); len(got) != 1 {
		t.Errorf("limit 1 gives %v", got)
	}
}
