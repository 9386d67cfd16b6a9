package stream_test

import (
	"testing"

	"github.com/covel-engine/covel/stream"
)

// A text that parses gives a cursor whose own text parses to the same.
func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "narrator:0", "a%2Fb:3,narrator:12", "a:1,a:2", "a:+1", "%:1", "a :1", "é:9223372036854775807"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := stream.ParseCursor(text)
		if err != nil {
			return
		}
		again, err := stream.ParseCursor(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("%q becomes %q, then %q, %v", text, c.String(), again.String(), err)
		}
	})
}
