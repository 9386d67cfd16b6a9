package model_test

import (
	"testing"

	"github.com/covel-engine/covel/model"
)

func TestChatSmoke(t *testing.T) {
	t.Parallel()
	p := says(system("R0"), assistant("past"), system("T9"), user("now"))
	p.Tools = []model.Tool{{Name: "roll"}}
	b, r := called(t, relay(model.ProtocolChat, "m"), p)
	t.Log(string(b.last().Body), b.last().URL, b.last().Header, r)
	ev, r, err := streamed(t, relay(model.ProtocolChat, "m"), p, sse(`{"choices":[{"delta":{"content":"he"}}]}`, `{"choices":[{"delta":{"content":"y"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":75}}}`, "[DONE]"))
	t.Log(ev, r, err)
}
