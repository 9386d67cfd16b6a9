package model_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
)

// A reply that thought and called comes back in the next step's request: native
// items verbatim at the same target, rebuilt at another.
func TestContinuationOfStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		llm, other string
		reply      answer
		verbatim   []string // in the next request to the same target
		rebuilt    string   // never in a request to another target
	}{
		"anthropic": {
			llm: slot("anthropic", "claude-x"), other: slot("anthropic", "claude-y"),
			reply: sse(`{"type":"message_start","message":{}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"","extra":12345678901234567890}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"the door \"is\" "}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"locked"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}`, `{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"roll","input":{}}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"sides\":6}"}}`, `{"type":"content_block_stop","index":2}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`),
			verbatim: []string{`{"type":"thinking","thinking":"the door \"is\" locked","signature":"c2ln","extra":12345678901234567890}`,
				`{"type":"redacted_thinking","data":"b3BhcXVl"}`, `{"type":"tool_use","id":"t1","name":"roll","input":{"sides":6}}`},
			rebuilt: "c2ln",
		},
		"responses": {
			llm: responsesSlot("m"), other: responsesSlot("n"),
			reply: sse(`{"type":"response.reasoning_summary_text.delta","delta":"the door \"is\" locked"}`,
				`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"t1","name":"roll","arguments":"{\"sides\":6}","odd":null}}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"c2ln"}}`,
				`{"type":"response.completed","response":{"status":"completed","output":[]}}`),
			verbatim: []string{`{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"c2ln"},{"type":"function_call","id":"fc","call_id":"t1","name":"roll","arguments":"{\"sides\":6}","odd":null}`},
			rebuilt:  "c2ln",
		},
		"gemini": {
			llm: slot("google", "gemini-3-pro"), other: slot("anthropic", "claude-y"),
			reply: sse(`{"candidates":[{"content":{"parts":[{"text":"the door \"is\" locked","thought":true}]}}]}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"t1","name":"roll","args":{"sides":6}},"thoughtSignature":"c2ln","n":12345678901234567890}]},"finishReason":"STOP"}]}`),
			verbatim: []string{`{"functionCall":{"id":"t1","name":"roll","args":{"sides":6}},"thoughtSignature":"c2ln","n":12345678901234567890}`, `"functionResponse":{"id":"t1"`},
			rebuilt:  "c2ln",
		},
		"chat, reasoning": {
			llm: slot("openrouter", "m"), other: slot("openrouter", "n"),
			reply:    sse(`{"choices":[{"delta":{"reasoning":"the door \"is\" locked","tool_calls":[{"index":0,"id":"t1","function":{"name":"roll","arguments":"{\"sides\":6}"}}]},"finish_reason":"tool_calls"}]}`),
			verbatim: []string{`"reasoning":"the door \"is\" locked"`}, rebuilt: `"reasoning":`,
		},
		"chat, think tags": {
			llm: slot("openrouter", "m"), other: slot("openrouter", "n"),
			reply:    sse(`{"choices":[{"delta":{"content":"<think>the door \"is\" locked</think>","tool_calls":[{"index":0,"id":"t1","function":{"name":"roll","arguments":"{\"sides\":6}"}}]},"finish_reason":"tool_calls"}]}`),
			verbatim: []string{`{"role":"assistant","content":"","tool_calls":`}, rebuilt: "locked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withTools(says(user("u")), gameTools...)
			_, r, err := streamed(t, c.llm, p, c.reply)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.ToolCalls) != 1 || r.ReasoningContent != `the door "is" locked` || r.ProviderContinuation == nil {
				t.Fatalf("%+v", r)
			}
			p.Messages = append(p.Messages, model.Message{
				Role: model.RoleAssistant, Content: r.Text, ReasoningContent: r.ReasoningContent, ToolCalls: r.ToolCalls, ProviderContinuation: r.ProviderContinuation,
			}, toolResult("t1", "4"))
			same, _ := called(t, c.llm, p)
			for _, item := range c.verbatim {
				if !contains(same.last().Body, item) {
					t.Errorf("%s is missing in\n%s", item, same.last().Body)
				}
			}
			other, _ := called(t, c.other, p)
			if contains(other.last().Body, c.rebuilt) {
				t.Errorf("%s went to another target:\n%s", c.rebuilt, other.last().Body)
			}
		})
	}
}

// Refusals are errors in all protocols, in whatever field they come.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		llm    string
		reply  answer
		stream bool
	}{
		"chat, message.refusal":      {relay(model.ProtocolChat, "m"), plain(`{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`), false},
		"chat, delta.refusal":        {relay(model.ProtocolChat, "m"), sse(`{"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`), true},
		"responses, refusal part":    {relay(model.ProtocolResponses, "m"), plain(`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}],"usage":{"input_tokens":3,"output_tokens":1}}`), false},
		"responses, content_filter":  {relay(model.ProtocolResponses, "m"), sse(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"usage":{"input_tokens":3,"output_tokens":1}}}`), true},
		"anthropic, refusal":         {anthropicStory, plain(`{"content":[],"stop_reason":"refusal","usage":{"input_tokens":3,"output_tokens":1}}`), false},
		"gemini, blocked prompt":     {slot("google", "gemini-x"), plain(`{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`), false},
		"gemini, finish in a stream": {slot("google", "gemini-x"), sse(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"RECITATION"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`), true},
	} {
		var err error
		if c.stream {
			_, _, err = streamed(t, c.llm, says(user("u")), c.reply)
		} else {
			_, err = replied(t, c.llm, says(user("u")), c.reply)
		}
		e := fails(t, err, model.CodeRefusal)
		if e.Retriable || usageIn(t, e).InputTokens != 3 || !strings.Contains(string(e.Details["diagnostics"]), "refusal") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A connection that breaks before the terminal event is a retriable failure
// without calls, whatever came before.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	for _, protocol := range fuzzed {
		a := sse(scripts[protocol].text...)
		a.cut = true
		events, _, err := streamed(t, relay(protocol, "m"), says(user("u")), a)
		e := fails(t, err, model.CodeProvider)
		if !e.Retriable || hasDone(events) || textOf(events) != "hey" {
			t.Errorf("%s: %+v, events %v", protocol, e, events)
		}
	}
}

// Gemini replies that look whole and are not (spec 04 §12.4).
func TestGeminiDefects(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"two candidates":     `{"candidates":[{"finishReason":"STOP"},{"finishReason":"STOP"}]}`,
		"another index":      `{"candidates":[{"index":1,"finishReason":"STOP"}]}`,
		"no finish":          `{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`,
		"unspecified finish": `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`,
		"partial arguments":  `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","partialArgs":[{}]}}]},"finishReason":"STOP"}]}`,
		"cut calls":          `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]},"finishReason":"MAX_TOKENS"}]}`,
		"another finish":     `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`,
		"no JSON":            `<html>`,
	} {
		_, err := replied(t, slot("google", "gemini-x"), says(user("u")), plain(reply))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		fails(t, err, model.CodeProvider)
	}
	events, _, err := streamed(t, slot("google", "gemini-x"), says(user("u")), sse(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`, `{"candidates":[{"content":{"parts":[{"text":"y"}]}}]}`))
	if fails(t, err, model.CodeProvider, "after the finish"); hasDone(events) {
		t.Error("content after the finish is accepted")
	}
	r := mustReply(t, slot("google", "gemini-x"), says(user("u")), plain(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":3,"cachedContentTokenCount":4}}`))
	if r.FinishReason != model.FinishLength {
		t.Errorf("%+v", r)
	}
	wantUsage(t, r.Usage, `{"inputTokens":5,"outputTokens":5,"cachedInputTokens":4}`)
}
