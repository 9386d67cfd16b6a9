package tokens_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"

	"github.com/covel-engine/covel/tokens"
)

// TestPiecesCountLikeTheWhole compares with the library on texts that hold
// borders of every kind.
func TestPiecesCountLikeTheWhole(t *testing.T) {
	t.Parallel()
	words := []string{
		"lamp", " the", " tide's", ", and", ".\n", "\n\n", "/path", "守灯人", "，数着潮汐", "。", "！", "42", " 1,000", "  ", "\t", "É", "e\u0301",
		"'ll", "-", "…", "x_y", "</a>", "{\"k\":1}", "CamelCase",
	}
	for _, name := range tokens.Names()[1:] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			est, err := tokens.New(name)
			if err != nil {
				t.Fatal(err)
			}
			est.Count("x") // sets the offline loader
			table, err := tiktoken.GetEncoding(name)
			if err != nil {
				t.Fatal(err)
			}
			draw := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				var text strings.Builder
				for i := range 200 {
					text.WriteString(words[draw.IntN(len(words))])
					if i%20 == 0 {
						text.WriteString(" the lamp")
					}
				}
				if got, want := est.Count(text.String()), len(table.EncodeOrdinary(text.String())); got != want {
					t.Fatalf("Count = %d, whole text %d: %q", got, want, text.String())
				}
			}
		})
	}
}
