package assembler_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

func TestResponseFormatEndsTheSystemPrompt(t *testing.T) {
	t.Parallel()
	got := assembler.WithResponseFormat("rules", raw(`{ "type": "object" }`), texts(t), "zh")
	if !strings.HasPrefix(got, "rules\n\n") || !strings.HasSuffix(got, "\n"+model.SchemaTag(raw(`{"type":"object"}`))) {
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

func TestFitKeepsTheSystemPromptFirst(t *testing.T) {
	t.Parallel()
	b := assembler.Budget{Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 1000, Reserve: 200}
	params := model.Params{
		Messages:       []model.Message{{Role: model.RoleSystem, Content: "rules"}, {Role: model.RoleUser, Content: "go"}},
		ResponseSchema: raw(`{"type": "object"}`), PromptCacheKey: "k",
	}
	fitted, report, err := b.Fit(params, &assembler.Ledger{})
	if err != nil {
		t.Fatal(err)
	}
	wantMessages(t, fitted.Messages, "system:"+assembler.WithResponseFormat("rules", params.ResponseSchema, texts(t), "en"), "user:go")
	same(t, "output limit", fitted.MaxOutputTokens, 200)
	same(t, "rest", fitted.PromptCacheKey, "k")
	same(t, "limit", report.Limit, 800)
	b.Window, b.Reserve = 10, 0
	if _, _, err := b.Fit(params, nil); err == nil {
		t.Error("no overflow")
	}
}
