package assembler_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/tokens"
)

func TestResponseFormatEndsTheSystemPrompt(t *testing.T) {
	t.Parallel()
	got := assembler.WithResponseFormat("rules", raw(`{ "type": "object" }`), texts(t), "zh")
	if !strings.HasPrefix(got, "rules\n\n") || !strings.HasSuffix(got, "<response-format>\n{\"type\":\"object\"}\n</response-format>") {
		t.Errorf("prompt %q", got)
	}
	same(t, "no schema", assembler.WithResponseFormat("rules", nil, texts(t), "zh"), "rules")
}

func TestLongestRetryHint(t *testing.T) {
	t.Parallel()
	same(t, "none", assembler.LongestRetryHint(texts(t), "en", tokens.Covel{}, 0), "")
	contains(t, assembler.LongestRetryHint(texts(t), "en", tokens.Covel{}, 3), "[retry 3]")
}

func TestFixedInputCountsEverythingThatIsNoMessage(t *testing.T) {
	t.Parallel()
	b := assembler.Budget{Estimator: q4{}, Texts: texts(t), Window: 1000, RetryHint: "hint"}
	_, report, err := b.Apply(assembler.Request{System: "sys" + mark, ResponseSchema: raw(`{"a": 1}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "fixed", report.Fixed, q4{}.Count("sys\n<response_format>{\"a\":1}</response_format>\nhint")+q4{}.Count(`{"a":1}`))
}
