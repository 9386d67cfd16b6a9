package providers_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// The gateway's default estimate is the built-in estimator's: the two are told
// apart only by where they live.
func TestEstimateIsTheBuiltInOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "门开了", "a门", "한국어 text", "ｆｕｌｌ", "abcde"})).Draw(t, "text")
		if got, want := model.EstimateTokens(text), (tokens.Covel{}).Count(text); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	})
}
