package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model/wire"
)

func ExampleWriter() {
	w := wire.NewWriter(64)
	w.Open('{')
	w.Key("model").String("m")
	w.Key("stop").Open('[').String("\n").Int(2).Close(']')
	w.Key("stream").Bool(true)
	w.Close('}')
	fmt.Println(string(w.Bytes()))
	// Output: {"model":"m","stop":["\n",2],"stream":true}
}

// Any text, valid UTF-8 or not, reads back as encoding/json would have it.
func TestStringReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		var got, want string
		if err := json.Unmarshal(wire.NewWriter(0).String(text).Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(text)
		if err := json.Unmarshal(raw, &want); err != nil || got != want {
			t.Fatalf("%q, want %q (%v)", got, want, err)
		}
	})
}

func TestTextLeavesMarksOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.StringN(0, 8, 24), 1, 5).Draw(t, "pieces")
		var got string
		if err := json.Unmarshal(wire.NewWriter(0).Text(strings.Join(pieces, "⟂"), "⟂").Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(strings.Join(pieces, ""), "⟂", ""); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
