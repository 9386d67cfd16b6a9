package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

// playing gives a gateway in which a script plays every slot.
func playing(t *testing.T, script string) *model.Gateway {
	t.Helper()
	if strings.Contains(script, "\n") {
		script = written(t, "script.yaml", script)
	}
	g, err := providers.Scripted(script)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func tells(t *testing.T, g *model.Gateway, p model.Params) *model.Result {
	t.Helper()
	r, err := g.Call(context.Background(), "story", p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func inTurn(n int, p model.Params) model.Params {
	p.Identity.Turn = n
	return p
}

var gameTools = []model.Tool{
	{Name: "roll", Parameters: json.RawMessage(`{"type":"object","properties":{"kind":{"enum":["d6","d20"]},"note":{"type":"string"},"sides":{"type":"integer","minimum":2}},"required":["sides","kind"]}`)},
	{Name: "runtime-done", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
}

var scriptedCases = cases{
	"M-125": func(t *testing.T) {
		script := "version: 1\nreplies:\n  - when: {turn: 2}\n    text: second\n  - text: any\n"
		g := playing(t, script)
		for turn, text := range map[int]string{1: "any", 2: "second", 3: "any"} {
			if r := tells(t, g, inTurn(turn, says(user("u")))); r.Text != text {
				t.Errorf("turn %d: %q", turn, r.Text)
			}
		}
		one, two := tells(t, g, inTurn(2, says(user("u")))), tells(t, playing(t, script), inTurn(2, says(user("u"))))
		want(t, "another process", one, string(mustJSON(two)))
	},
	"M-126": func(t *testing.T) {
		path := written(t, "script.yaml", "version: 1\nreplies:\n  - when: {attempt: 1}\n    error: {status: 429, code: rate_limit_exceeded, message: slow down, retryAfterMs: 1000}\n  - text: there\n")
		synctest.Test(t, func(t *testing.T) {
			g, err := providers.Scripted(path)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			r, err := g.Call(t.Context(), "story", says(user("u")), nil)
			if err != nil || r.Text != "there" || time.Since(start) != time.Second {
				t.Fatalf("%v, %+v after %s", err, r, time.Since(start))
			}
			want(t, "attempts", r.Records[0].Attempts, `[{"status":429},{"status":200,"waitMs":1000}]`)
		})
	},
	"M-127": func(t *testing.T) {
		var said strings.Builder
		_, err := playing(t, "version: 1\nreplies:\n  - truncated: true\n    text: half a story\n    chunkRunes: 3\n").Call(
			context.Background(), "story", says(user("u")), func(d model.Delta) { said.WriteString(d.Text) })
		if e := fails(t, err, model.CodeProvider); !e.Retriable || said.String() != "half a story" {
			t.Errorf("retriable %v, deltas %q", e.Retriable, said.String())
		}
	},
	"M-128": func(t *testing.T) {
		p := says(user("I try my luck"))
		p.Tools, p.ToolChoice = gameTools, model.ToolChoice{Name: "roll"}
		g := playing(t, "storyteller")
		r := tells(t, g, p)
		if len(r.ToolCalls) != 1 || r.ToolCalls[0].Name != "roll" || r.ToolCalls[0].Arguments != `{"kind":"d6","sides":2}` || !generated.MatchString(r.ToolCalls[0].ID) {
			t.Fatalf("%+v", r.ToolCalls)
		}
		p.Messages = append(p.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: r.ToolCalls}, toolResult(r.ToolCalls[0].ID, `{"ok":true,"summary":"a five"}`))
		r = tells(t, g, p)
		if len(r.ToolCalls) != 1 || r.ToolCalls[0].Name != "runtime-done" || r.ToolCalls[0].Arguments != `{}` {
			t.Errorf("%+v", r.ToolCalls)
		}
	},
	"M-129": func(t *testing.T) {
		cue := "I open the iron door with the key that I took from the sleeping ferryman's belt"
		one, two := tells(t, playing(t, "storyteller"), says(user(cue))), tells(t, playing(t, "storyteller"), says(user(cue)))
		if one.Text != two.Text || !strings.Contains(one.Text, cue[:60]) {
			t.Errorf("%q, %q", one.Text, two.Text)
		}
		r := tells(t, playing(t, "storyteller"), says(user("我点亮灯，看看四周"), calling("t1", "roll", "{}"), toolResult("t1", `{"ok":true,"summary":"掷出五点"}`)))
		if !strings.Contains(r.Text, "我点亮灯，看看四周") || !strings.Contains(r.Text, "掷出五点") || strings.Contains(r.Text, " the ") {
			t.Errorf("%q", r.Text)
		}
	},
	"M-130": func(t *testing.T) {
		b := newBench(t)
		g, notices, err := providers.New(providers.Config{
			Getenv: environment("COVEL_LLM_SCRIPT", "storyteller", "OPENAI_API_KEY", "k"), LLMPath: written(t, "llm.toml", slot("openai", "gpt-5.4")), Transport: b,
		})
		if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "COVEL_LLM_SCRIPT") {
			t.Fatalf("%v, notices %q", err, notices)
		}
		if r := tells(t, g, says(user("I knock"))); !strings.Contains(r.Text, "I knock") || b.count() != 0 {
			t.Errorf("%q, %d requests", r.Text, b.count())
		}
	},
	"M-131": func(t *testing.T) {
		p := says(user("u"))
		p.ResponseSchema = []byte(`{"type":"object","properties":{"kind":{"enum":["roll","flip"]},"sides":{"type":"integer","minimum":2}},"required":["kind","sides"]}`)
		if r := tells(t, playing(t, "storyteller"), p); r.Text != `{"kind":"roll","sides":2}` {
			t.Errorf("%q", r.Text)
		}
	},
}
