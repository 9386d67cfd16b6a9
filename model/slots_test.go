package model_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
)

// Every refusal of llm.toml names file, line, field and what is allowed.
func TestSlotRefusals(t *testing.T) {
	t.Parallel()
	base := slot("openai", "m")
	for text, words := range map[string][]string{
		"":                                  {"no slot", "[covel.story]"},
		"[covel.story]\nmodel = \"m\"\n":    {"covel.story.provider", "missing"},
		"[covel.story]\nprovider = \"x\"\n": {"covel.story.model", "missing"},
		"[covel.story]\nprovider = \"x\"\nmodel = \"m\"\n":                          {"covel.story.baseUrl", "not built in"},
		"[story]\nprovider = \"x\"\n":                                               {"llm.toml:1", "story", "covel"},
		"covel = 3\n":                                                               {"covel", "not a table"},
		base + "provider = \n":                                                      {"llm.toml:5"},
		base + "colour = 1\n":                                                       {"llm.toml:5", "covel.story.colour", "reasoningEffort"},
		base + "reasoning_effort = \"low\"\n":                                       {"reasoningEffort"},
		base + "protocol = \"soap\"\n":                                              {"llm.toml:5", "soap", model.ProtocolChat},
		base + "tag = \"poem\"\n":                                                   {"poem", "transcription"},
		base + "input = [\"smell\"]\n":                                              {"smell", "audio"},
		base + "features = \"reasoning\"\n":                                         {"features", "list"},
		base + "contextWindow = 0\n":                                                {"contextWindow", "0", "at least 1"},
		base + "contextWindow = 1.5\n":                                              {"contextWindow", "1.5"},
		base + "maxOutputTokens = -1\n":                                             {"maxOutputTokens", "-1"},
		base + "baseUrl = \"ftp://x\"\n":                                            {"baseUrl", "ftp://x"},
		base + "baseUrl = \"http://x.example\"\n":                                   {"baseUrl", "https"},
		base + "lateSystemAsUser = \"yes\"\n":                                       {"lateSystemAsUser", "true or false"},
		base + "cacheHistoryMarks = 1\n":                                            {"cacheHistoryMarks", model.CacheOpenAIBreakpoints},
		base + "embeddingFormat = \"x\"\n":                                          {"embeddingFormat", "nemotron-multimodal"},
		base + "[covel.story.pricing]\ninput = 1\n":                                 {"llm.toml:6", "pricing.input", "inputPerMToken"},
		base + "[covel.story.pricing]\nperImage = -1\n":                             {"perImage", "-1"},
		base + "[covel.story.headers]\nX-Api-Key = \"s\"\n":                         {"X-Api-Key", "environment"},
		base + "[covel.story.providerRequestMetadata]\nx-goog-api-key = \"s\"\n":    {"x-goog-api-key"},
		base + "[covel.story.providerOptions.openai]\nseed = \"x\"\n":               {"openai.seed", "integer"},
		base + "[covel.story.providerOptions.openai]\nstore = 1\n":                  {"openai.store", "true or false"},
		base + "[covel.story.providerOptions.openai-chat-v1]\nextraBody = 3\n":      {"extraBody", "table"},
		base + "[covel.story.providerOptions.openai]\nreasoningEffort = \"huge\"\n": {"reasoningEffort", "huge"},
		base + "fallback = \"pic\"\n[covel.pic]\nprovider = \"openai\"\nmodel = \"m\"\ntag = \"image\"\n": {"pic", "same tag"},
	} {
		_, err := model.ParseSlots("llm.toml", []byte(text))
		e := fails(t, err, model.CodeConfig, append(words, "llm.toml")...)
		if strings.Contains(e.Message, "\"s\"") {
			t.Errorf("a secret stands in %q", e.Message)
		}
	}
}

// Options of targets that are not active are not read.
func TestForeignOptionsAreNotRead(t *testing.T) {
	t.Parallel()
	b := body(t, slot("openai", "m", "[covel.story.providerOptions.acme]", `seed = "not a number"`, "[covel.story.providerOptions.openai]", "seed = 7"), says(user("u")))
	want(t, "seed", b["seed"], `7`)
}

func TestTagsFollowOutput(t *testing.T) {
	t.Parallel()
	for output, tag := range map[string]string{`["audio"]`: "speech", `["image"]`: "image", `["text"]`: "text", `["text", "image"]`: "text", `["embedding"]`: "embedding"} {
		slots, err := model.ParseSlots("llm.toml", []byte(slot("openai", "m", "output = "+output)))
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := slots.Lookup("story"); s.Tag != tag {
			t.Errorf("%s: %q, want %q", output, s.Tag, tag)
		}
	}
	llm := slot("openai", "m") + strings.ReplaceAll(slot("openai", "e", `tag = "embedding"`), "covel.story", "covel.vectors")
	g := newBench(t).gateway(llm)
	if target, err := g.Resolve("embedding"); err != nil || target.Slot != "vectors" {
		t.Errorf("%+v, %v", target, err)
	}
	_, err := g.Resolve("image")
	fails(t, err, model.CodeConfig, "image", "story, vectors")
	_, err = g.Call(t.Context(), "vectors", says(user("u")), nil)
	fails(t, err, model.CodeConfig, "embedding")
}

func TestMessagesThatNoProtocolCarries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		messages []model.Message
		words    []string
	}{
		{[]model.Message{user("a"), user("b"), user("c"), msg("narrator", "x")}, []string{`messages[3].role: unknown role "narrator"`}},
		{[]model.Message{{Role: model.RoleTool, Content: "x"}}, []string{"messages[0].toolCallId"}},
		{[]model.Message{{Role: model.RoleUser, Parts: []model.Part{{Type: "smell"}}}}, []string{"messages[0].content[0].type", "smell"}},
		{[]model.Message{{Role: model.RoleUser, Parts: []model.Part{text("x"), image("bm8gaW1hZ2U=")}}}, []string{"messages[0].content[1].image", "mediaType"}},
	} {
		_, err := replied(t, relay(model.ProtocolChat, "m"), says(c.messages...), okReply[model.ProtocolChat])
		fails(t, err, model.CodeConfig, c.words...)
	}
}
