package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

// Late system messages under mode native (spec 04 §9.5): where they go, and
// when they stay in an envelope.
func TestNativePlacement(t *testing.T) {
	t.Parallel()
	withImage := model.Message{Role: model.RoleSystem, Parts: []model.Part{text("S1"), image(png)}}
	for name, c := range map[string]struct {
		messages []model.Message
		wanted   string
	}{
		"moves behind the user":     {says(user("U1"), assistant("A1"), system("S1"), user("U2")).Messages, "u:U1 a:A1 u:U2 s:S1"},
		"a run is joined":           {says(user("U1"), assistant("A1"), system("S1"), system("S2"), user("U2")).Messages, "u:U1 a:A1 u:U2 s:S1+S2"},
		"stays last":                {says(user("U1"), system("S1")).Messages, "u:U1 s:S1"},
		"before an assistant":       {says(user("U1"), system("S1"), assistant("A1"), user("U2")).Messages, "u:U1 s:S1 a:A1 u:U2"},
		"runs that meet are joined": {says(user("U0"), assistant("A0"), system("S1"), user("U1"), system("S2")).Messages, "u:U0 a:A0 u:U1 s:S1+S2"},
		"followed by a user":        {says(user("U0"), assistant("A0"), system("S1"), user("U1"), system("S2"), user("U2")).Messages, "u:U0 a:A0 u:<S1> u:U1 u:U2 s:S2"},
		"behind an assistant":       {says(user("U1"), assistant("A1"), system("S1")).Messages, "u:U1 a:A1 u:<S1>"},
		"with an image":             {says(user("U1"), assistant("A1"), withImage, user("U2")).Messages, "u:U1 a:A1 u:<S1> u:U2"},
	} {
		b := body(t, slot("anthropic", "claude-opus-4-8", `lateSystem = "native"`), model.Params{Messages: c.messages})
		var got []string
		for i := range b["messages"].([]any) {
			m := at(t, b, "messages", i)
			s := ""
			for _, block := range at(t, m, "content").([]any) {
				part, _ := block.(map[string]any)["text"].(string)
				s += part
			}
			s = strings.ReplaceAll(s, "\n\n", "+")
			if inner, ok := strings.CutPrefix(s, "<system-instruction>\n"); ok {
				s = "<" + strings.TrimSuffix(inner, "\n</system-instruction>") + ">"
			}
			got = append(got, at(t, m, "role").(string)[:1]+":"+s)
		}
		if line := strings.Join(got, " "); line != c.wanted {
			t.Errorf("%s: %s, want %s", name, line, c.wanted)
		}
	}
}

// A call is directly followed by its results in all protocols (spec 04 §9.3).
func TestHoldBack(t *testing.T) {
	t.Parallel()
	two := model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "t1", Name: "a", Arguments: "{}"}, {ID: "t2", Name: "b", Arguments: "{}"}}}
	p := says(user("u"), two, system("s1"), toolResult("t1", "1"), user("v"), toolResult("t2", "2"), system("s2"))
	chat := body(t, relay(model.ProtocolChat, "m"), p)
	wantRoles(t, chat["messages"], "user", "assistant", "tool", "tool", "system", "user", "system")
	want(t, "s1", at(t, chat, "messages", 4, "content"), `"s1"`)
	anthropic := body(t, anthropicStory, p)
	wantRoles(t, anthropic["messages"], "user", "assistant", "user", "user", "user", "user")
	gemini := body(t, relay(model.ProtocolGemini, "gemini-x"), p)
	want(t, "responses", at(t, gemini, "contents", 2), `{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"result":1}}},{"functionResponse":{"name":"b","response":{"result":2}}}]}`)
	open := body(t, relay(model.ProtocolChat, "m"), says(user("u"), calling("t1", "a", "{}"), system("s")))
	wantRoles(t, open["messages"], "user", "assistant", "system")
}

// Whatever the messages, hold-back and modes lose none of them and put no
// message between a call and its results.
func TestNoMessageIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var messages []model.Message
		var open []string
		for i := range rapid.IntRange(1, 12).Draw(r, "n") {
			word := fmt.Sprintf("w%d.", i)
			switch kind := rapid.IntRange(0, 4).Draw(r, "kind"); {
			case kind == 0:
				messages = append(messages, system(word))
			case kind == 1:
				messages = append(messages, user(word))
			case kind == 2:
				messages, open = append(messages, assistant(word)), nil
			case kind == 3:
				m := calling(word+"a", "t", "{}")
				m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: word + "b", Name: "t", Arguments: "{}"})
				messages, open = append(messages, m), []string{word + "a", word + "b"}
			case len(open) > 0:
				messages, open = append(messages, toolResult(open[0], word)), open[1:]
			}
		}
		for _, mode := range []string{"system", "envelope"} {
			f := &fake{steps: []step{ok()}}
			g, err := tryGateway(recording{f, func(body []byte) {
				for _, m := range messages {
					if m.Content != "" && !contains(body, m.Content) {
						r.Fatalf("%q is lost in %s", m.Content, body)
					}
				}
			}}, relay(model.ProtocolChat, "m", fmt.Sprintf("lateSystem = %q", mode)))
			if err != nil {
				r.Fatal(err)
			}
			if _, err := g.Call(context.Background(), "story", says(messages...), nil); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// The deadline of a moving budget never goes back and never passes the ceiling.
func TestBudgetDeadline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		clock := &steppedClock{now: time.Unix(0, 0)}
		idle := time.Duration(rapid.IntRange(1, 300).Draw(r, "idle")) * time.Second
		b, err := model.NewBudget(model.Limits{IdleTimeout: idle}, true, clock)
		if err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(1, 30).Draw(r, "events") {
			before := b.Deadline()
			clock.now = clock.now.Add(time.Duration(rapid.IntRange(0, 200).Draw(r, "wait")) * time.Second)
			b.Progress()
			if after := b.Deadline(); after.Before(before) || after.After(b.Ceiling()) {
				r.Fatalf("%s, then %s, ceiling %s", before, after, b.Ceiling())
			}
		}
	})
}

// steppedClock is moved by hand; nothing waits on it.
type steppedClock struct{ now time.Time }

func (c *steppedClock) Now() time.Time                               { return c.now }
func (*steppedClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// Scripts are refused with file and entry.
func TestScriptRefusals(t *testing.T) {
	t.Parallel()
	for script, words := range map[string][]string{
		"version: 2\nreplies: []\n":                                            {"script.yaml", "version", "2"},
		"version: 1\ncolour: red\n":                                            {"script.yaml", "colour"},
		"version: 1\nnoMatch: maybe\n":                                         {"noMatch", "maybe"},
		"version: 1\nreplies:\n  - text: a\n  - txt: b\n":                      {"entry 2", "txt"},
		"version: 1\nreplies:\n  - when: {mood: bad}\n":                        {"entry 1", "mood"},
		"version: 1\nreplies:\n  - when: {lastUser: \"(\"}\n":                  {"entry 1", "lastUser"},
		"version: 1\nreplies:\n  - toolCalls: [{name: fly}]\n":                 {"entry 1", "fly", "not offered"},
		"version: 1\nreplies:\n  - error: {connection: slow}\n":                {"entry 1", "slow", "refused or reset"},
		"version: 1\nreplies:\n  - error: {status: 99}\n":                      {"entry 1", "99"},
		"version: 1\nreplies:\n  - when: {slot: fast, turn: 7}\n    text: x\n": {"script.yaml", "story", "turn 3", "step 2", "narrator"},
	} {
		p := inTurn(3, says(user("u")))
		p.Identity.RuntimeID, p.Identity.Step = "narrator", 2
		_, err := playing(t, script).Call(context.Background(), "story", p, nil)
		fails(t, err, model.CodeConfig, words...)
	}
	r := tells(t, playing(t, "version: 1\nnoMatch: storyteller\nreplies: []\n"), says(user("I whistle")))
	if !strings.Contains(r.Text, "I whistle") {
		t.Error(r.Text)
	}
}

// Every condition of a script entry counts.
func TestScriptConditions(t *testing.T) {
	t.Parallel()
	g := playing(t, `version: 1
replies:
  - when: {lastTool: roll, step: 2, runtime: narrator, slot: story}
    text: after the roll
  - when: {lastUser: "north|door"}
    text: a way out
  - text: else
`)
	p := says(user("go"), calling("t1", "roll", "{}"), toolResult("t1", "6"))
	p.Identity = model.Identity{RuntimeID: "narrator", Step: 2}
	for text, change := range map[string]func(*model.Params){
		"after the roll": func(*model.Params) {},
		"else":           func(p *model.Params) { p.Identity.Step = 3 },
		"a way out":      func(p *model.Params) { p.Messages = says(user("I go north")).Messages },
	} {
		q := p
		change(&q)
		if r := tells(t, g, q); r.Text != text {
			t.Errorf("%q, want %q", r.Text, text)
		}
	}
}

// A connection that a script breaks is a link failure: sent four times, then
// PROVIDER_ERROR.
func TestScriptedLinkFailure(t *testing.T) {
	t.Parallel()
	path := written(t, "script.yaml", "version: 1\nreplies:\n  - error: {connection: refused}\n")
	synctest.Test(t, func(t *testing.T) {
		g, err := providers.Scripted(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Call(t.Context(), "story", says(user("u")), nil)
		e := fails(t, err, model.CodeProvider)
		if !e.Retriable || model.Classify(e) != model.ClassUnreachable || len(e.Records[0].Attempts) != 4 {
			t.Errorf("%+v, class %s", e, model.Classify(e))
		}
	})
}

// The same request gives the same story, another one another story.
func TestStorytellerIsDeterministic(t *testing.T) {
	t.Parallel()
	g := playing(t, "storyteller")
	stories := map[string]bool{}
	for i := range 40 {
		p := says(system("s"), user(fmt.Sprintf("I count to %d", i)))
		one, two := tells(t, g, p), tells(t, g, p)
		if one.Text != two.Text {
			t.Fatalf("%q, then %q", one.Text, two.Text)
		}
		_, rest, _ := strings.Cut(one.Text, fmt.Sprint(i))
		stories[rest] = true
	}
	if len(stories) < 30 {
		t.Errorf("only %d different stories of 40", len(stories))
	}
}

// hookSpy observes; slow and failing hooks only leave a warning.
type hookSpy struct {
	mu     sync.Mutex
	seen   []string
	err    error
	forget chan struct{}
}

func (h *hookSpy) BeforeTarget(_ context.Context, t model.Target, id model.Identity) error {
	h.mu.Lock()
	h.seen = append(h.seen, "before "+t.Provider+" "+id.Slot)
	h.mu.Unlock()
	if h.forget != nil {
		<-h.forget
	}
	return h.err
}

func (h *hookSpy) AfterTarget(_ context.Context, _ model.Target, _ model.Identity, result *model.Result, err *model.Error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, fmt.Sprint("after ", result != nil, " ", err != nil))
	return nil
}

func TestHooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failing, slow := &hookSpy{err: errors.New("no paper")}, &hookSpy{forget: make(chan struct{})}
		f := &fake{steps: []step{ok()}}
		g, err := tryGateway(f, relay(model.ProtocolChat, "m"), func(c *model.Config) { c.Hooks = []model.Hook{failing, slow} })
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		r, err := g.Call(t.Context(), "story", says(user("u")), nil)
		if err != nil || time.Since(start) != time.Second || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "no paper") {
			t.Errorf("%v after %s, %+v", err, time.Since(start), r)
		}
		close(slow.forget)
		synctest.Wait()
		want(t, "seen", failing.seen, `["before relay story","after true false"]`)
	})
}

// An adapter that ignores its cancellation is left behind at the deadline.
type deaf struct{ wake chan struct{} }

func (d deaf) Send(context.Context, *model.Request, func(model.Event)) (*model.Result, error) {
	<-d.wake
	return nil, errors.New("too late")
}

func TestDeafAdapter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := deaf{make(chan struct{})}
		g, err := model.NewGateway(model.Config{Adapters: map[string]model.Adapter{model.ProtocolScripted: d}})
		if err != nil {
			t.Fatal(err)
		}
		p := says(user("u"))
		p.Limits.Timeout = time.Second
		start := time.Now()
		_, err = g.Call(t.Context(), "story", p, nil)
		fails(t, err, model.CodeBudgetExceeded)
		if passed := time.Since(start); passed > 1100*time.Millisecond {
			t.Errorf("after %s", passed)
		}
		close(d.wake)
	})
}

// Gemini's kept parts must be those of the message (spec 04 §16).
func TestGeminiContinuation(t *testing.T) {
	t.Parallel()
	llm := slot("google", "gemini-3-pro")
	part := `{"functionCall":{"id":"f1","name":"roll","args":{"n":1.0}},"thoughtSignature":"c2ln"}`
	kept := func(id, arguments, modelID, item string) model.Params {
		m := calling(id, "roll", arguments)
		m.ProviderContinuation = &model.Continuation{
			Protocol: model.ProtocolGemini, Model: modelID, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Items: []json.RawMessage{json.RawMessage(item)},
		}
		return says(user("u"), m, toolResult(id, "6"))
	}
	b, _ := called(t, llm, kept("f1", `{"n":1}`, "gemini-3-pro", part))
	if !contains(b.last().Body, part) || !contains(b.last().Body, `{"functionResponse":{"id":"f1","name":"roll","response":{"result":6}}}`) {
		t.Errorf("%s", b.last().Body)
	}
	for name, p := range map[string]model.Params{
		"other arguments":  kept("f1", `{"n":2}`, "gemini-3-pro", part),
		"another id":       kept("f2", `{"n":1}`, "gemini-3-pro", part),
		"not a part":       kept("f1", `{"n":1}`, "gemini-3-pro", `7`),
		"a foreign signed": kept("f1", `{"n":1}`, "gemini-2.5-pro", part),
	} {
		if _, err := replied(t, llm, p, okReply[model.ProtocolGemini]); err == nil {
			t.Errorf("%s is sent", name)
		} else {
			fails(t, err, model.CodeConfig, "messages[1].providerContinuation")
		}
	}
	b, _ = called(t, llm, kept("f1", `{"n":1}`, "gemini-2.5-pro", `{"functionCall":{"name":"roll","args":{"n":1}}}`))
	if !contains(b.last().Body, `{"functionCall":{"name":"roll","args":{"n":1}}}`) {
		t.Errorf("%s", b.last().Body)
	}
}

// Images go out in each protocol's form, and into the record as their length.
func TestImagesByProtocol(t *testing.T) {
	t.Parallel()
	p := says(model.Message{Role: model.RoleUser, Parts: []model.Part{text("see"), {Type: "image", MediaRef: "abc"}}})
	media := func(c *model.Config) {
		c.Media = func(_ context.Context, ref string) ([]byte, string, error) {
			return []byte("bytes of " + ref), "image/webp", nil
		}
	}
	const data = "Ynl0ZXMgb2YgYWJj"
	for protocol, form := range map[string]string{
		model.ProtocolChat:      `{"type":"image_url","image_url":{"url":"data:image/webp;base64,` + data + `"}}`,
		model.ProtocolResponses: `{"type":"input_image","image_url":"data:image/webp;base64,` + data + `"}`,
		model.ProtocolAnthropic: `{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"` + data + `"}`,
		model.ProtocolGemini:    `{"inlineData":{"mimeType":"image/webp","data":"` + data + `"}}`,
	} {
		b, r := called(t, relay(protocol, "m", `input = ["text", "image"]`), p, media)
		if !contains(b.last().Body, form) {
			t.Errorf("%s: %s", protocol, b.last().Body)
		}
		if contains(r.Records[0].Body, data) || !contains(r.Records[0].Body, "[12 bytes]") {
			t.Errorf("%s: record %s", protocol, r.Records[0].Body)
		}
	}
	if p.Messages[0].Parts[1].Image != "" {
		t.Error("the caller's message changed")
	}
}

// Equal inputs give equal bytes, whatever order maps are walked in.
func TestEqualInputsEqualBytes(t *testing.T) {
	t.Parallel()
	for _, protocol := range model.ProtocolIDs() {
		if protocol == model.ProtocolScripted {
			continue
		}
		var first string
		for range 8 {
			p := withTools(says(system("s"), user("u")), gameTools...)
			p.Metadata = metadata("top_p", "0.5", "seed", "1", "zeta", `{"b":1,"a":2}`, "alpha", "true", "thinking", `{"type":"disabled"}`, "parameterOverrides", `{"temperature":0,"topP":0.3,"reasoningEffort":"low"}`)
			b, _ := called(t, relay(protocol, "gpt-5.4"), p)
			if body := string(b.last().Body); first == "" {
				first = body
			} else if body != first {
				t.Fatalf("%s:\n%s\n%s", protocol, first, body)
			}
		}
	}
}

// recording shows each body before it is answered.
type recording struct {
	base *fake
	see  func(body []byte)
}

// The layers of spec 04 §3.4, later ones winning.
func TestSettingsInOrder(t *testing.T) {
	t.Parallel()
	llm := relay(model.ProtocolChat, "m", "[covel.story.providerRequestMetadata]", "a = 1", "b = 1", "c = 1", "d = 1", "e = 1", "f = 1",
		"[covel.story.providerOptions.openai-chat-v1]", "extraBody = {b = 2, c = 2, d = 2, e = 2, f = 2}",
		"[covel.story.providerOptions.relay]", "extraBody = {c = 3, d = 3, e = 3, f = 3}")
	p := withMetadata("d", "4", "e", "4", "f", "4", "providerOptions", `{"relay":{"extraBody":{"e":5,"f":5}},"other":{"extraBody":{"a":9}}}`)
	p.ProviderOptions = map[string]map[string]json.RawMessage{"relay": {"extraBody": json.RawMessage(`{"f":6}`)}}
	b := body(t, llm, p)
	want(t, "fields", []any{b["a"], b["b"], b["c"], b["d"], b["e"], b["f"]}, `[1,2,3,4,5,6]`)
	absent(t, b, "providerOptions")
	q := withMetadata("generationConfig", `{"temperature":0.1,"thinkingConfig":{"thinkingBudget":5},"odd":1}`, "safetySettings", `[]`)
	b = body(t, slot("google", "gemini-x"), q)
	want(t, "generationConfig", b["generationConfig"], `{"temperature":0.1,"thinkingConfig":{"thinkingBudget":5}}`)
	want(t, "safetySettings", b["safetySettings"], `[]`)
	absent(t, b, "odd")
}

// A call's option beats the slot's, but not a mode that the slot names.
func TestLateSystemOfACall(t *testing.T) {
	t.Parallel()
	p := says(user("u"), system("s"))
	p.ProviderOptions = map[string]map[string]json.RawMessage{"relay": {"lateSystemAsUser": json.RawMessage("false")}}
	wantRoles(t, body(t, relay(model.ProtocolChat, "m", "lateSystemAsUser = true"), p)["messages"], "user", "system")
	_, err := replied(t, relay(model.ProtocolChat, "m", `lateSystem = "envelope"`), p, okReply[model.ProtocolChat])
	fails(t, err, model.CodeConfig, "lateSystem", "lateSystemAsUser")
}

// A target that cannot be called names the failure that led to it.
func TestAFallbackWithoutKeyKeepsTheCause(t *testing.T) {
	t.Parallel()
	hosts := byHost{"a.example": {steps: []step{status(503, "x-should-retry", "false")}}}
	g, err := tryGateway(hosts, pair("", ""), func(c *model.Config) { c.Keys = model.KeysFrom(environment("ONE_API_KEY", "k")) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Call(t.Context(), "story", says(user("u")), nil)
	e := fails(t, err, model.CodeConfig, "TWO_API_KEY")
	var cause *model.Error
	if !errors.As(e.Err, &cause) || cause.StatusCode != 503 || len(e.Records) != 1 {
		t.Errorf("cause %v, %d records", e.Err, len(e.Records))
	}
}

// A binding to another provider or model leaves behind what the file says of
// its own.
func TestBindings(t *testing.T) {
	t.Parallel()
	llm := slot("openai", "gpt-5.4", "contextWindow = 9000", `headers = {x-team = "blue"}`, "[covel.story.pricing]", "inputPerMToken = 1")
	p := says(user("u"))
	p.Bindings = map[string]model.Binding{"story": {Provider: "anthropic", Model: "claude-opus-4-8"}}
	b := newBench(t, okReply[model.ProtocolAnthropic])
	g := b.gateway(llm)
	target, err := g.ResolveFor("story", p)
	if err != nil || target.Protocol != model.ProtocolAnthropic || target.ContextWindow == 9000 || *target.Pricing.InputPerMToken == 1 {
		t.Errorf("%+v, %v", target, err)
	}
	if _, err := g.Call(t.Context(), "story", p, nil); err != nil {
		t.Fatal(err)
	}
	if h := b.last().Header; h.Get("X-Team") != "" || h.Get("X-Api-Key") != "key-of-anthropic" {
		t.Errorf("%v", h)
	}
	if target, err := g.Resolve("story"); err != nil || target.Provider != "openai" || target.ContextWindow != 9000 {
		t.Errorf("the binding leaked: %+v, %v", target, err)
	}
	p.Bindings["story"] = model.Binding{Protocol: "soap"}
	_, err = g.Call(t.Context(), "story", p, nil)
	fails(t, err, model.CodeConfig, "bindings.story.protocol", "soap")
}

// x-should-retry overrides the status, both ways.
func TestShouldRetryHeader(t *testing.T) {
	t.Parallel()
	f := &fake{steps: []step{status(400, "x-should-retry", "true"), ok()}}
	timed(t, f, says(user("u")), fine(t))
	wantSends(t, f, 0, 500*ms)
	f = &fake{steps: []step{status(503, "x-should-retry", "false")}}
	timed(t, f, says(user("u")), failsWith(t, model.CodeProvider, 503))
	wantSends(t, f, 0)
}

// A budget that several calls share counts all of their sends.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{steps: []step{status(500)}}
		g, err := tryGateway(f, relay(model.ProtocolChat, "m"))
		if err != nil {
			t.Fatal(err)
		}
		five := 5
		p := says(user("u"))
		if p.Budget, err = model.NewBudget(model.Limits{MaxAttempts: &five}, false, nil); err != nil {
			t.Fatal(err)
		}
		_, err = g.Call(t.Context(), "story", p, nil)
		failsWith(t, model.CodeProvider, 500)(nil, err)
		_, err = g.Call(t.Context(), "story", p, nil)
		e := fails(t, err, model.CodeBudgetExceeded)
		var cause *model.Error
		if len(f.at) != 5 || e.Detail("reason") != "attempts" || !errors.As(e.Err, &cause) || cause.StatusCode != 500 {
			t.Errorf("%d sends, %+v", len(f.at), e)
		}
	})
}
