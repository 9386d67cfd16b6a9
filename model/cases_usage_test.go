package model_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/covel-engine/covel/model"
)

func wantUsage(t *testing.T, u model.Usage, wanted string) {
	t.Helper()
	want(t, "usage", u, wanted)
}

var usageCases = cases{
	"M-041": func(t *testing.T) {
		r := mustReply(t, relay(model.ProtocolChat, "m"), says(user("u")), plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":80,"cache_write_tokens":20}}}`))
		wantUsage(t, r.Usage, `{"inputTokens":100,"outputTokens":10,"cachedInputTokens":80,"cacheWriteInputTokens":20}`)
	},
	"M-042": func(t *testing.T) {
		events, _, err := streamed(t, relay(model.ProtocolChat, "m"), says(user("u")), sse(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":75}}}`, "[DONE]"))
		if err != nil {
			t.Fatal(err)
		}
		wantUsage(t, events[len(events)-1].Result.Usage, `{"inputTokens":100,"outputTokens":7,"cachedInputTokens":75}`)
		b := newBench(t, sse(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`))
		if _, err := b.gateway(relay(model.ProtocolChat, "m")).Stream(t.Context(), "story", says(user("u")), func(model.Event) {}); err != nil {
			t.Fatal(err)
		}
		want(t, "stream_options", b.last().json(t)["stream_options"], `{"include_usage":true}`)
	},
	"M-043": func(t *testing.T) {
		output := `"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"message","content":[{"type":"output_text","text":"x"}]}],
			"usage":{"input_tokens":120,"output_tokens":12,"input_tokens_details":{"cached_tokens":90,"cache_write_tokens":30}}`
		_, r, err := streamed(t, relay(model.ProtocolResponses, "m"), says(user("u")), sse(oneLine(`{"type":"response.completed","response":{"status":"completed",`+output+`}}`)))
		if err != nil {
			t.Fatal(err)
		}
		wantUsage(t, r.Usage, `{"inputTokens":120,"outputTokens":12,"cachedInputTokens":90,"cacheWriteInputTokens":30}`)
		if r.ProviderContinuation == nil {
			t.Error("no continuation")
		}
		_, r, err = streamed(t, relay(model.ProtocolResponses, "m"), says(user("u")), sse(oneLine(`{"type":"response.incomplete","response":{"status":"incomplete",`+output+`}}`)))
		if err != nil {
			t.Fatal(err)
		}
		if r.FinishReason != model.FinishLength || r.Usage.InputTokens != 120 || r.ProviderContinuation != nil {
			t.Errorf("%+v", r)
		}
	},
	"M-044": func(t *testing.T) {
		_, r, err := streamed(t, slot("anthropic", "claude-x"), says(user("u")), sse(
			`{"type":"message_start","message":{"usage":{"input_tokens":40,"cache_read_input_tokens":32,"cache_creation_input_tokens":8,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6}}`, `{"type":"message_stop"}`))
		if err != nil {
			t.Fatal(err)
		}
		wantUsage(t, r.Usage, `{"inputTokens":80,"outputTokens":6,"cachedInputTokens":32,"cacheWriteInputTokens":8}`)
	},
	"M-045": func(t *testing.T) {
		for protocol, a := range okReply {
			r := mustReply(t, relay(protocol, "m"), says(user("u")), a)
			wantUsage(t, r.Usage, `{"inputTokens":1,"outputTokens":1}`)
		}
	},
	"M-046": func(t *testing.T) {
		reply := func(usage string) *model.Result {
			return mustReply(t, relay(model.ProtocolChat, "m"), says(user("u")), plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":`+usage+`}`))
		}
		wantUsage(t, reply(`{"prompt_tokens":-5,"completion_tokens":1.5,"prompt_tokens_details":{"cached_tokens":"abc"}}`).Usage, `{"inputTokens":0,"outputTokens":0}`)
		wantUsage(t, reply(`{"prompt_tokens":10,"completion_tokens":"3","prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":8}}`).Usage,
			`{"inputTokens":10,"outputTokens":3,"cachedInputTokens":8,"cacheWriteInputTokens":2}`)
	},
	"M-047": func(t *testing.T) {
		r := mustReply(t, relay(model.ProtocolChat, "m", "[covel.story.pricing]", "inputPerMToken = 3", "outputPerMToken = 15", "cacheReadPerMToken = 0.30", "cacheWritePerMToken = 3.75"),
			says(user("u")), plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10000,"completion_tokens":500,"prompt_tokens_details":{"cached_tokens":8000,"cache_write_tokens":1000}}}`))
		if r.CostUSD == nil || math.Abs(*r.CostUSD-0.01665) > 1e-12 {
			t.Errorf("cost %v", r.CostUSD)
		}
	},
	"M-048": func(t *testing.T) {
		for raw, reason := range map[string]string{
			"END_TURN": model.FinishStop, "max-tokens": model.FinishLength, " tool_use ": model.FinishToolCalls, "": model.FinishStop, "banana": model.FinishOther,
		} {
			if got := model.FinishReason(raw); got != reason {
				t.Errorf("%q reads %q, want %q", raw, got, reason)
			}
			r := mustReply(t, relay(model.ProtocolChat, "m"), says(user("u")), plain(`{"choices":[{"message":{"content":"x"},"finish_reason":`+string(mustJSON(raw))+`}]}`))
			if r.FinishReason != reason || r.RawFinishReason != raw {
				t.Errorf("%q: %q, raw %q", raw, r.FinishReason, r.RawFinishReason)
			}
		}
	},
	"M-049": func(t *testing.T) {
		_, err := replied(t, relay(model.ProtocolChat, "m"), says(user("u")), plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`))
		fails(t, err, model.CodeProvider)
		events, _, err := streamed(t, relay(model.ProtocolChat, "m"), says(user("u")), sse(
			`{"choices":[{"delta":{"content":"some","tool_calls":[{"index":0,"id":"c","function":{"name":"roll","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, "[DONE]"))
		e := fails(t, err, model.CodeRefusal)
		wantUsage(t, usageIn(t, e), `{"inputTokens":5,"outputTokens":2}`)
		for _, ev := range events {
			if ev.Kind == model.EventToolCall {
				t.Error("a tool call was released")
			}
		}
	},
}

func usageIn(t *testing.T, e *model.Error) model.Usage {
	t.Helper()
	var u model.Usage
	if err := json.Unmarshal(e.Details["usage"], &u); err != nil {
		t.Fatalf("no usage in details %v: %v", e.Details, err)
	}
	return u
}

// oneLine takes the line breaks out of a payload, so that it fits one event.
func oneLine(payload string) string {
	var v any
	if err := json.Unmarshal([]byte(payload), &v); err != nil {
		panic(err)
	}
	return string(mustJSON(v))
}
