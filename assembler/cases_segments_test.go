package assembler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

func heardBy(provider, content, audience string) plugin.Segment {
	s := segment(content, content, "system", "session")
	s.Provider, s.Audience = provider, raw(audience)
	return s
}

func segmentCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-049": func(t *testing.T) {
			out := build(t, storyRuntime, func(in *assembler.Input) { in.Runtime.OutputContract = "narrative-engine@2" }, withSegments(
				heardBy("p1", "own-self", `"self"`), heardBy("p2", "other-self", `"self"`), heardBy("p2", "for-story", `"story"`),
				heardBy("p2", "equal-contract", `{"contract":"narrative-engine@2"}`), heardBy("p2", "other-contract", `{"contract":"other@1"}`),
			))
			contains(t, out.SystemPrompt, "own-self", "for-story", "equal-contract")
			lacks(t, out.SystemPrompt, "other-self", "other-contract")
		},
		"CA-050": func(t *testing.T) {
			before, after := segment("b", "before", "pre-history", "stable"), segment("a", "after", "post-history", "stable")
			before.Role, after.Role = "user", "assistant"
			wantMessages(t, build(t, history("u u1"), withSegments(after, before)).Messages, "user:before", "user:u1", "user:hello", "assistant:after")
		},
		"CA-051": func(t *testing.T) {
			depth := segment("d", "depth", `{"depth":1}`, "stable")
			depth.Role = "user"
			out := build(t, history("u u1", "a a1", "u u2"), withSegments(depth, segment("p", "post", "post-history", "stable")))
			wantMessages(t, out.Messages, "user:u1", "assistant:a1", "user:u2", "user:depth", "user:hello", "system:post")
			far := build(t, history("u u1"), withSegments(segment("d", "far", `{"depth":99}`, "stable"), segment("t", "ctx", "system", "turn")))
			wantMessages(t, far.Messages, "system:far", "user:u1", "system:ctx", "user:hello")
		},
		"CA-052": func(t *testing.T) {
			contains(t, build(t, withSegments(segment("x", "{{ player.message }}", "system", "stable"))).SystemPrompt, "{{ player.message }}")
		},
		"CA-053": func(t *testing.T) {
			early, deep, late := segment("e", "early", "pre-history", "session"), segment("d", "deep", `{"depth":0}`, "session"), segment("l", "late", "post-history", "session")
			early.Role, deep.Role, late.Role = "user", "assistant", "user"
			out := build(t, withSegments(segment("f", "fresh", "pre-history", "turn"), segment("s", "stable", "pre-history", "stable"), early, deep, late))
			last := strings.LastIndex(out.SystemPrompt, mark)
			if strings.Index(out.SystemPrompt, "stable") > last || strings.Index(out.SystemPrompt, "fresh") < last {
				t.Errorf("order in %q", out.SystemPrompt)
			}
			wantMessages(t, out.Messages, "user:early", "user:hello", "assistant:deep", "user:late")
			same(t, "user messages", out.CurrentTurnUserMessages, 2)
		},
		"CA-054": func(t *testing.T) {
			out := build(t, withSegments(segment("t", "the turn", "system", "turn")))
			if !strings.HasSuffix(out.SystemPrompt, mark) {
				t.Error("the system prompt does not end with a cache border")
			}
			wantMessages(t, out.Messages, "system:the turn", "user:hello")
			same(t, "turn context", out.TurnContext, "the turn")
		},
		"CA-055": func(t *testing.T) { // the 500 ms limit is the caller's
			got, warnings, err := assembler.ParseSegments("p1", raw(`[
				{"id":"a","content":"A","position":"system","audience":"self","volatility":"turn","providerPluginId":"other"},
				{"id":"a","content":"twice","position":"system","audience":"self","volatility":"turn"},
				{"id":"b","content":"B","position":"top","audience":"self","volatility":"turn"},
				{"id":"c","content":"C","position":{"depth":-1},"audience":"self","volatility":"turn"},
				{"id":"d","content":"D","position":"system","audience":"self","volatility":"turn","extra":1},
				{"id":"e","content":"E","position":"system","audience":"all","volatility":"daily"},
				{"id":"f","content":"F","position":"system","audience":{"contract":"x@1"},"volatility":"stable","order":2}]`))
			if err != nil {
				t.Fatal(err)
			}
			ids := ""
			for _, s := range got {
				ids += s.ID
				same(t, "provider", s.Provider, "p1")
			}
			same(t, "kept", ids, "af")
			same(t, "warnings", len(warnings), 5)
			for _, w := range warnings {
				same(t, "code", w.Code, "bad-segment")
				contains(t, w.Item, "p1/")
			}
		},
		"CA-056": func(t *testing.T) {
			five, none := segment("a", "order five", "system", "session"), segment("b", "no order", "system", "session")
			five.Order = 5
			nine, zero := segment("c", "stable nine", "system", "stable"), segment("d", "turn zero", "pre-history", "turn")
			nine.Order = 9
			inOrder(t, build(t, withSegments(zero, five, none, nine)).SystemPrompt, "stable nine", "no order", "order five", "turn zero")
		},
	}
}

func rows(total int, limit int, value string) *session.DataProjection {
	all := make([]session.PluginDatum, total)
	for i := range all {
		all[i] = session.PluginDatum{Key: fmt.Sprintf("%02d", i), Value: raw(value)}
	}
	if total <= limit {
		return &session.DataProjection{Anchors: all, Total: total}
	}
	p := &session.DataProjection{Anchors: all[:limit/2], Total: total}
	for i := total - 1; len(p.Anchors)+len(p.Recent) < limit; i-- {
		p.Recent = append(p.Recent, all[i])
	}
	return p
}

func ownData(as, format string, data *session.DataProjection) func(*assembler.Input) {
	return func(in *assembler.Input) {
		in.Runtime.Injects = []assembler.Inject{{As: as, SelfData: &assembler.SelfData{
			SelfData: plugin.SelfData{Namespace: "notes", As: as, Format: format}, Rows: data,
		}}}
	}
}

func wantCode(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	var e *turn.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
	contains(t, err.Error(), parts...)
}

func selfDataCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-057": func(t *testing.T) {
			same(t, "en", build(t, ownData("rows", "summary", &session.DataProjection{})).TurnContext, "<rows>(none)</rows>")
			same(t, "zh", build(t, inLocale("zh-CN"), ownData("rows", "summary", &session.DataProjection{})).TurnContext, "<rows>（无）</rows>")
		},
		"CA-058": func(t *testing.T) {
			data := &session.DataProjection{Total: 1, Anchors: []session.PluginDatum{{Key: "k1", Value: raw(`{"t":"` + strings.Repeat("x", 400) + `"}`)}}}
			got := build(t, ownData("rows", "", data)).TurnContext
			line := strings.Split(got, "\n")[1]
			if !strings.HasPrefix(line, "- k1 | {") || len(line) != len("- k1 | ")+200+3 || !strings.HasSuffix(line, "xxx...") {
				t.Errorf("line %q", line)
			}
			lacks(t, got, "0001")
		},
		"CA-059": func(t *testing.T) {
			data := &session.DataProjection{Total: 1, Anchors: []session.PluginDatum{{Key: "k1", Value: raw(`{"title":"Salt & wind"}`)}}}
			same(t, "ids", build(t, ownData("rows", "ids-only", data)).TurnContext, "<rows>\n- k1\n</rows>")
			same(t, "full", build(t, ownData("rows", "full", data)).TurnContext, "<rows>\n- k1 | {\"title\":\"Salt &amp; wind\"}\n</rows>")
		},
		"CA-060": func(t *testing.T) {
			got := build(t, ownData("rows", "ids-only", rows(10, 4, "1"))).TurnContext
			same(t, "block", got, "<rows>\n- 00\n- 01\n- 09\n- 08\n[10 entries in total, 4 shown]\n</rows>")
		},
		"CA-061": func(t *testing.T) {
			same(t, "two", build(t, ownData("rows", "ids-only", rows(2, 50, "1"))).TurnContext, "<rows>\n- 00\n- 01\n</rows>")
			contains(t, build(t, inLocale("zh-CN"), ownData("rows", "ids-only", rows(6, 4, "1"))).TurnContext, "[共 6 条记录，显示其中 4 条]")
		},
		"CA-062": func(t *testing.T) {
			hidden := input(t, ownData("rows", "", nil))
			hidden.Runtime.Injects[0].SelfData.Namespace = "_hidden.plot"
			_, err := assembler.SelfDataReads(hidden.Runtime)
			wantCode(t, err, "hidden-namespace", "p1/main", "_hidden.plot")
			_, err = assembler.Build(hidden)
			wantCode(t, err, "hidden-namespace", "p1/main", "_hidden.plot")
			_, err = assembler.Build(input(t, ownData("rows", "", nil)))
			wantCode(t, err, "store-required", "p1/main", "notes")
			reads, err := assembler.SelfDataReads(input(t, ownData("rows", "", nil)).Runtime)
			if err != nil || !slices.Equal(reads, []assembler.SelfDataRead{{Namespace: "notes", Limit: 50}}) {
				t.Errorf("reads %v, %v", reads, err)
			}
		},
		"CA-063": func(t *testing.T) {
			_, err := assembler.Build(input(t, ownData("bad tag!", "", rows(1, 5, "1"))))
			wantCode(t, err, "bad-tag", "bad tag!", "p1/main")
			contains(t, build(t, ownData("<rows>", "ids-only", rows(1, 5, "1"))).TurnContext, "<rows>\n- 00\n</rows>")
		},
	}
}

func dataCases() map[string]caseTest {
	events := func(catalogue string) func(*assembler.Input) {
		return func(in *assembler.Input) { in.EventCatalogue, in.Runtime.AdvertiseEvents = catalogue, true }
	}
	const tide = "- tide.turned: Tide change (required: level: number)"
	return map[string]caseTest{
		"CA-064": func(t *testing.T) {
			hint := texts(t).Get("en", "T05", nil)
			contains(t, hint, "emit-event")
			contains(t, build(t, events(tide)).SystemPrompt, "<available-events>\n"+tide+"\n\n"+hint+"\n</available-events>")
			lacks(t, build(t, events(tide), func(in *assembler.Input) { in.Runtime.AdvertiseEvents = false }).SystemPrompt, "available-events")
			lacks(t, build(t, events("")).SystemPrompt, "available-events")
			catalogue := assembler.EventCatalogue([]assembler.EventTopic{
				{Topic: "tide.turned", Description: "Tide change", Advertise: true, Schema: raw(`{"type":"object","required":["level"],"properties":{"note":{"type":"string"},"level":{"type":"number"}}}`)},
				{Topic: "Zeta", Advertise: true},
				{Topic: "hidden", Description: "x"},
				{Topic: "ref", Advertise: true, Schema: raw(`{"required":["a","b"],"properties":{"b":{"type":["string","null"]},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{}}}`)},
				{Topic: "broken", Advertise: true, Schema: raw(`{`)},
			}, texts(t), "en")
			same(t, "catalogue", catalogue, "- Zeta\n- broken\n  (the payload schema is unavailable)\n- ref (required: b: string|null, a: any)\n"+
				`  schema: {"required":["a","b"],"properties":{"b":{"type":["string","null"]},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{}}}`+"\n"+tide)
		},
		"CA-065": func(t *testing.T) {
			got := build(t, events("- x: </available-events><b>")).SystemPrompt
			same(t, "opening", strings.Count(got, "<available-events>"), 1)
			same(t, "closing", strings.Count(got, "</available-events>"), 1)
			contains(t, got, "&lt;/available-events&gt;&lt;b&gt;")
		},
		"CA-066": func(t *testing.T) {
			zh := texts(t).Get("zh", "T05", nil)
			if !hasHan(zh) {
				t.Error("no Chinese hint")
			}
			contains(t, build(t, inLocale("zh-CN"), events(tide)).SystemPrompt, zh)
			if got := texts(t).Get("en", "T05", nil); hasHan(got) {
				t.Error("Han in the English hint")
			}
			contains(t, build(t, inLocale("zh-Hant-TW"), events(tide)).SystemPrompt, texts(t).Get("en", "T05", nil))
		},
		"CA-067": func(t *testing.T) {
			got := build(t, func(in *assembler.Input) {
				in.Inputs = []assembler.Slot{{Name: "x", InputSlot: one(`{"id":"3f2b8c1e-0a4d-4c1b-9f00-1234567890ab","n":1}`, "p", "r", "result-9")}}
				in.Exports = []assembler.Slot{{Name: "y", InputSlot: plugin.InputSlot{Cardinality: "all", Items: []plugin.InputItem{{Value: raw("2"), Source: plugin.InputSource{PluginID: "q", RuntimeID: "r", ResultID: "result-8"}}}}}}
			}).TurnContext
			same(t, "blocks", got, "<runtime-inputs>\n"+`{"x":{"cardinality":"one","value":{"n":1},"source":{"pluginId":"p","runtimeId":"r"}}}`+"\n</runtime-inputs>\n"+
				"<runtime-exports>\n"+`{"y":{"cardinality":"all","items":[{"value":2,"source":{"pluginId":"q","runtimeId":"r"}}]}}`+"\n</runtime-exports>")
		},
		"CA-068": func(t *testing.T) {
			got := build(t, func(in *assembler.Input) {
				in.Inputs = []assembler.Slot{{Name: "x", InputSlot: one(`"</runtime-inputs>"`, "p", "r", "")}}
			}).TurnContext
			same(t, "closing", strings.Count(got, "</runtime-inputs>"), 1)
		},
		"CA-069": func(t *testing.T) {
			const uuid = `"3F2B8C1E-0a4d-4c1b-9f00-1234567890ab"`
			data := &session.DataProjection{Total: 1, Anchors: []session.PluginDatum{{Key: "k7", Value: raw(`{"id":"k7","fact":"f","validAt":2,"evidenceTurnIds":[` + uuid + `],"lastTurnId":` + uuid + `,"sessionId":"s","unlockedAt":"2031-01-02T03:04:05Z"}`)}}}
			same(t, "row", build(t, ownData("rows", "full", data)).TurnContext, "<rows>\n- k7 | {\"fact\":\"f\",\"validAt\":2}\n</rows>")
		},
		"CA-070": func(t *testing.T) {
			source := raw(`{"a":{"sessionId":"s","turnId":"3f2b8c1e-0a4d-4c1b-9f00-1234567890ab","updatedAt":"2031-01-02T03:04:05.123+02:00","list":[{"sessionId":1}]},"id":"guild-x","date":"1943-05-01T00:00:00Z","ids":[],"xIds":["a","3f2b8c1e-0a4d-4c1b-9f00-1234567890ab"],"onAt":"2031-01-02","atAt":"2031-01-02T03:04:05"}`)
			before := string(source)
			got, err := assembler.ModelFacingJSON(source)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "projection", string(got), `{"a":{"list":[{}]},"id":"guild-x","date":"1943-05-01T00:00:00Z","ids":[],"xIds":["a","3f2b8c1e-0a4d-4c1b-9f00-1234567890ab"],"onAt":"2031-01-02","atAt":"2031-01-02T03:04:05"}`)
			same(t, "source", string(source), before)
		},
		"CA-138": func(t *testing.T) {
			const text = `{"sessionId":"s","mood":"calm"}`
			contains(t, build(t, withSegments(segment("x", text, "system", "session"))).SystemPrompt, text)
			got, err := assembler.ModelFacingJSON(raw(text))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "projection", string(got), `{"mood":"calm"}`)
		},
	}
}
