package continuation

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

var update = flag.Bool("update", false, "write the golden file of a version that has none yet")

// full has every member set.
func full() Payload {
	return Payload{
		SchemaVersion:      SchemaVersion,
		ManifestGeneration: "0123456789abcdef",
		Transcript:         turn.RunRef{RunID: "x-1/npc/pilot", Length: 5},
		PartialContent:     "The <pilot> waits & listens.", CapturedAt: 1, Parts: []int{1},
		ToolCallsSoFar: []turn.ToolRecord{{
			ID: "c1", Name: "save-facts", Arguments: json.RawMessage(`{"b":1,"a":[2]}`), Result: json.RawMessage(`{"ok":true,"summary":"saved"}`), OK: true, DurationMs: 12,
		}},
		CompletionCalls: []CompletionCall{{Name: "save-facts", Success: true}, {Name: "runtime-done", Success: true, Done: true}},
		PendingProposals: []turn.Proposal{{
			ID: "p1", Type: turn.ProposalPluginData, Source: turn.ProposalSource{PluginID: "npc", RuntimeID: "npc/pilot"},
			TurnID: "t-1", SessionID: "demo", Payload: json.RawMessage(`{"namespace":"facts","key":"k","value":1}`),
			Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}},
		InputSlots: map[string]plugin.InputSlot{
			"weather": {Cardinality: "one", Value: json.RawMessage(`"rain"`), Source: &plugin.InputSource{PluginID: "w", RuntimeID: "w", ResultID: "r1"}},
			"all":     {Cardinality: "all", Items: []plugin.InputItem{{Value: json.RawMessage(`1`), Source: plugin.InputSource{PluginID: "w", RuntimeID: "w"}}}},
		},
		EmittedEvents:       []turn.Event{{Topic: "bell.rung", Data: json.RawMessage(`{"times":3}`)}},
		ExecutionContext:    ExecutionContext{ExecutionID: "x-1", Origin: turn.OriginPlayer, CountPolicy: turn.CountCompleteTurn, LogicalTurnID: "t-1", SourceTurnID: "t-0"},
		Locale:              "zh-CN",
		LogicalTurn:         4,
		TurnNumber:          7,
		SuspendToolCallID:   "c2",
		WithheldRuntimeJobs: []json.RawMessage{json.RawMessage(`{"jobId":"j1"}`)}, CurrentTurnUserMessages: 2,
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	const file = "testdata/v1.json"
	raw, err := Freeze(full())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s exists; a released version is never rewritten", file)
		}
		if err := os.WriteFile(file, append(raw, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(golden)), string(raw)); diff != "" {
		t.Errorf("Freeze: %s", diff)
	}
	thawed, err := Thaw(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), thawed); diff != "" {
		t.Errorf("Thaw: %s", diff)
	}
}

func TestFreezeThaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := Payload{
			SchemaVersion: SchemaVersion, ManifestGeneration: rapid.StringN(1, 16, -1).Draw(rt, "generation"),
			Transcript:       turn.RunRef{RunID: rapid.StringN(1, 20, -1).Draw(rt, "run"), Length: rapid.IntRange(1, 1000).Draw(rt, "length")},
			PartialContent:   rapid.String().Draw(rt, "partial"),
			ToolCallsSoFar:   []turn.ToolRecord{},
			PendingProposals: []turn.Proposal{},
			ExecutionContext: ExecutionContext{ExecutionID: "x", CountPolicy: rapid.SampledFrom([]turn.CountPolicy{turn.CountNone, turn.CountCompleteTurn}).Draw(rt, "policy")},
			Locale:           rapid.String().Draw(rt, "locale"), LogicalTurn: rapid.IntRange(0, 99).Draw(rt, "turn"),
			SuspendToolCallID: rapid.String().Draw(rt, "call"),
		}
		raw, err := Freeze(p)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := Thaw(raw)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestThawRefuses(t *testing.T) {
	t.Parallel()
	raw, err := Freeze(full())
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) string {
		if !strings.Contains(string(raw), from) {
			t.Fatalf("payload has no %s", from)
		}
		return strings.Replace(string(raw), from, to, 1)
	}
	for name, c := range map[string]struct{ raw, code, naming string }{
		"TE-149 another version":  {edit(`"schemaVersion":1`, `"schemaVersion":2`), CodeUnknownVersion, "schemaVersion 2"},
		"a version that is text":  {edit(`"schemaVersion":1`, `"schemaVersion":"1"`), CodeUnknownVersion, `"1"`},
		"a later version's shape": {`{"schemaVersion":9,"brandNew":{}}`, CodeUnknownVersion, "schemaVersion 9"},
		"no version":              {edit(`"schemaVersion":1,`, ``), CodeMalformed, "schemaVersion"},
		"an unknown member":       {edit(`"locale"`, `"lokale"`), CodeMalformed, "lokale"},
		"no generation":           {edit(`"manifestGeneration":"0123456789abcdef",`, ``), CodeMalformed, "manifestGeneration"},
		"no transcript":           {edit(`"len":5`, `"len":0`), CodeMalformed, "transcript"},
		"no execution":            {edit(`"executionId":"x-1",`, ``), CodeMalformed, "executionId"},
		"another policy":          {edit(`complete-player-turn`, `twice`), CodeMalformed, "twice"},
		"a second value":          {string(raw) + `{}`, CodeMalformed, "JSON"},
		"no object":               {`[1]`, CodeMalformed, "object"},
		"empty":                   {``, CodeMalformed, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Thaw(json.RawMessage(c.raw))
			if turn.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.naming) {
				t.Errorf("error %v, want %s naming %s", err, c.code, c.naming)
			}
		})
	}
	if _, err := Freeze(Payload{}); turn.CodeOf(err) != CodeMalformed {
		t.Errorf("an empty payload was frozen: %v", err)
	}
}

func FuzzThaw(f *testing.F) {
	raw, err := Freeze(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(raw))
	f.Add([]byte(`{"schemaVersion":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Thaw(raw)
		if err != nil {
			return
		}
		again, err := Freeze(p)
		if err != nil {
			t.Fatalf("a thawed payload does not freeze: %v", err)
		}
		if _, err := Thaw(again); err != nil {
			t.Fatalf("a frozen payload does not thaw: %v", err)
		}
	})
}

func TestValidateData(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","required":["choice"],"properties":{"n":{"type":"integer"}}}`)
	for name, c := range map[string]struct {
		schema json.RawMessage
		data   string
		naming string
	}{
		"TE-114":          {schema, `{}`, "choice"},
		"a nested value":  {schema, `{"choice":1,"n":"x"}`, "/n"},
		"a fitting value": {schema, `{"choice":1}`, ""},
		"no schema":       {nil, `"any"`, ""},
		"no JSON":         {nil, `{`, "data"},
		"no data":         {nil, ``, "data"},
		"a broken schema": {json.RawMessage(`{"type":7}`), `1`, "resumeSchema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ValidateData(c.schema, json.RawMessage(c.data))
			switch {
			case c.naming == "" && err != nil:
				t.Error(err)
			case c.naming != "" && (turn.CodeOf(err) != "invalid_resume_data" || !strings.Contains(err.Error(), c.naming)):
				t.Errorf("error %v, want invalid_resume_data naming %s", err, c.naming)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	transcript := []model.Message{
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c1"}, {ID: "c2"}}},
		{Role: model.RoleTool, ToolCallID: "c1", Content: `{"ok":true}`},
		{Role: model.RoleTool, ToolCallID: "c2", Content: Placeholder},
	}
	p := full()
	got, err := p.Answer(transcript, json.RawMessage(` {"choice" : "<left>"} `))
	if err != nil || got[2].Content != `{"resumeData":{"choice":"<left>"}}` || transcript[2].Content != Placeholder {
		t.Errorf("answered %+v: %v", got, err)
	}
	t.Run("TE-119", func(t *testing.T) {
		t.Parallel()
		if _, err := p.Answer(transcript[:2], json.RawMessage(`1`)); turn.CodeOf(err) != "resume_placeholder_missing" {
			t.Errorf("error %v", err)
		}
		answered := append(transcript[:2:2], model.Message{Role: model.RoleTool, ToolCallID: "c2", Content: `{"resumeData":1}`})
		if _, err := p.Answer(answered, json.RawMessage(`1`)); turn.CodeOf(err) != "resume_placeholder_missing" {
			t.Errorf("a second answer: %v", err)
		}
	})
	fn := Payload{}
	for data, want := range map[string]string{`"go left"`: "go left", ` {"a": 1} `: `{"a":1}`, `null`: "null", `3`: "3"} {
		got, err := fn.Answer(nil, json.RawMessage(data))
		if err != nil || len(got) != 1 || got[0].Role != model.RoleUser || got[0].Content != want {
			t.Errorf("%s gives %+v: %v", data, got, err)
		}
	}
}

func TestCounting(t *testing.T) {
	t.Parallel()
	t.Run("TE-115", func(t *testing.T) {
		t.Parallel()
		p := full()
		if p.CountPolicy(1) != turn.CountNone || p.CountPolicy(0) != turn.CountCompleteTurn {
			t.Error("a resume counts too early or not at all")
		}
	})
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if d := Deadline(at, 1500); d == nil || !d.Equal(at.Add(1500*time.Millisecond)) {
		t.Errorf("deadline %v", d)
	}
	if d := Deadline(at, 1<<62); d == nil || !d.After(at) {
		t.Errorf("a huge deadline gave %v", d)
	}
	if Deadline(at, 0) != nil {
		t.Error("a deadline without being asked for")
	}
}
