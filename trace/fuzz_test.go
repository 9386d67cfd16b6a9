package trace

import (
	"bytes"
	"strings"
	"testing"
)

// Whatever a body is, its pieces together are the body.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[1,2]", `{"a":[1, {"b":[2]}],"c":"x"}`, `{"a" : [ ] , "b":[1}`, `{"messages":[1,2`, `{"a":[1]} trailing`, "{\"\\u005b\":[1]}", `{"a":[{"b":1},{"c":2}],"d":[3,4]}`, `{"a":[{"b":1} ,{"c":2}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := join(split(body)); !bytes.Equal(got, body) {
			t.Fatalf("the pieces of %q are %q", body, got)
		}
	})
}

// A list that a difference describes is the list again.
func FuzzDifference(f *testing.F) {
	f.Add("abc", "abd")
	f.Add("", "a")
	f.Add("aaa", "aa")
	f.Fuzz(func(t *testing.T, base, list string) {
		b, l := letters(base), letters(list)
		runs, fresh := difference(b, l)
		p := partList{Base: "x", Runs: runs, New: fresh}
		got, err := p.whole(b)
		if err != nil || len(got) != len(l) {
			t.Fatalf("%v, %v", got, err)
		}
		for i := range got {
			if got[i] != l[i] {
				t.Fatalf("%q over %q comes back as %v", list, base, got)
			}
		}
	})
}

func letters(s string) []string {
	var out []string
	for _, r := range s {
		out = append(out, string(r))
	}
	return out
}

// A list that an older event describes by its first and last parts is read too.
func TestOlderDifference(t *testing.T) {
	t.Parallel()
	base := letters("abcdef")
	for _, tc := range []struct {
		list partList
		want string
	}{
		{partList{Base: "x", Keep: 2, Tail: 1, New: letters("XY")}, "abXYf"},
		{partList{Base: "x", Keep: 6}, "abcdef"},
		{partList{Base: "x", Tail: 1, New: letters("Z")}, "Zf"},
	} {
		got, err := tc.list.whole(base)
		if err != nil || strings.Join(got, "") != tc.want {
			t.Errorf("%+v is %q, %v; want %q", tc.list, got, err, tc.want)
		}
	}
	if _, err := (&partList{Base: "x", Keep: 7}).whole(base); err == nil {
		t.Error("7 parts of 6 are taken without an error")
	}
}
