package model_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/model/scripted"
)

// fuzzed are the protocols in a fixed order.
var fuzzed = []string{model.ProtocolChat, model.ProtocolResponses, model.ProtocolAnthropic, model.ProtocolGemini}

// oneReply answers every request with the same bytes.
func oneReply(reply string) *fake {
	return &fake{steps: []step{{reader: func(context.Context) io.Reader { return strings.NewReader(reply) }}}}
}

// FuzzReplies gives adapters replies of any shape. They never panic; a failure
// is typed; a stream either fails or ends in done, its calls whole.
func FuzzReplies(f *testing.F) {
	for i, protocol := range fuzzed {
		s := scripts[protocol]
		f.Add(uint8(i), true, sse(append(append([]string{}, s.text...), s.terminal...)...).body)
		f.Add(uint8(i), true, sse(append(append([]string{}, s.text...), s.fault)...).body)
		f.Add(uint8(i), true, "data: {\n\n")
		f.Add(uint8(i), false, okReply[protocol].body)
		f.Add(uint8(i), false, `{"error":{"message":"x"}}`)
		f.Add(uint8(i), false, `[]`)
	}
	f.Add(uint8(0), true, sse(`{"choices":[{"delta":{"content":"<thi"}}]}`, `{"choices":[{"delta":{"content":"nk>a</think>"},"finish_reason":"stop"}]}`).body)
	f.Add(uint8(0), true, sse(`{"choices":[{"delta":{"tool_calls":[{"index":-3,"function":{"name":"x","arguments":7}}]},"finish_reason":"stop"}]}`).body)
	f.Add(uint8(1), true, sse(`{"type":"response.output_item.done","output_index":99,"item":{"type":"function_call","name":"x"}}`, `{"type":"response.completed","response":{}}`).body)
	f.Add(uint8(2), true, sse(`{"type":"content_block_start","index":-1,"content_block":7}`, `{"type":"content_block_stop","index":-1}`, `{"type":"message_stop"}`).body)
	f.Add(uint8(2), true, sse(`{"type":"content_block_start","index":900000,"content_block":{"type":"text"}}`, `{"type":"message_stop"}`).body)
	f.Add(uint8(3), true, sse(`{"candidates":[{"content":{"parts":[null]},"finishReason":"STOP"}]}`).body)
	f.Fuzz(func(t *testing.T, which uint8, stream bool, reply string) {
		protocol := fuzzed[int(which)%len(fuzzed)]
		g, err := tryGateway(oneReply(reply), relay(protocol, "m"), func(c *model.Config) { c.NoRetry = true })
		if err != nil {
			t.Fatal(err)
		}
		var events []model.Event
		var result *model.Result
		if stream {
			result, err = g.Stream(context.Background(), "story", says(user("u")), func(e model.Event) { events = append(events, e) })
		} else {
			result, err = g.Call(context.Background(), "story", says(user("u")), nil)
		}
		if err != nil {
			var typed *model.Error
			if !errors.As(err, &typed) || typed.Code == "" || strings.Contains(typed.Message, "panicked") || result != nil || hasDone(events) {
				t.Fatalf("%v, result %v, events %v", err, result, events)
			}
			return
		}
		if stream && (!hasDone(events) || textOf(events) != result.Text) {
			t.Fatalf("text %q, events %v", result.Text, events)
		}
		for _, c := range result.ToolCalls {
			if c.ID == "" || c.Name == "" {
				t.Fatalf("call %+v", c)
			}
		}
	})
}

// FuzzParseSlots gives llm.toml any text: it is refused with CONFIG_ERROR, or
// its slots can be resolved.
func FuzzParseSlots(f *testing.F) {
	for _, seed := range []string{
		slot("openai", "gpt-5.4"), threeSlots, pair("", ""), "[covel.a.b.c]\nx = 1\n", "[[covel]]\n", "covel.story.provider = \"openai\"\ncovel.story.model = \"m\"\n",
		"[covel.\"a.b\"]\nprovider = \"scripted\"\nmodel = \"x\"\n", "[covel.story]\nprovider = {a = 1}\n", "\xff", "[covel.story]\nheaders = {a = [1]}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slots, err := model.ParseSlots("llm.toml", []byte(text))
		if err != nil {
			var typed *model.Error
			if !errors.As(err, &typed) || typed.Code != model.CodeConfig {
				t.Fatal(err)
			}
			return
		}
		g, err := model.NewGateway(model.Config{Adapters: providers.Adapters(""), Slots: slots})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slots.Names() {
			if target, err := g.Resolve(name); err != nil || target.Slot != name {
				t.Fatalf("%q: %+v, %v", name, target, err)
			}
		}
	})
}

// FuzzParseScript gives the script parser any text.
func FuzzParseScript(f *testing.F) {
	for _, seed := range []string{
		"version: 1\nreplies:\n  - text: a\n", "version: 1\nreplies:\n  - when: {turn: 2}\n    error: {status: 429}\n", "version: [1]\n", "- a\n", "a: &x {b: *x}\n",
		"version: 1\nreplies:\n  - toolCalls: [{name: roll, arguments: {a: {b: [1, null, \"c\"]}}}]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := scripted.ParseScript("script.yaml", []byte(text)); err != nil {
			var typed *model.Error
			if !errors.As(err, &typed) || typed.Code != model.CodeConfig {
				t.Fatal(err)
			}
		}
	})
}
