package ordered_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/assembler/ordered"
)

func TestModelJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null , "<x>&" ] } `: `{"b":1,"a":[true,null,"<x>&"]}`,
		`{"a":1,"b":2,"a":3}`:                            `{"a":3,"b":2}`,
		`[1.0,1e3,-0,0.5,1.50,2E-7]`:                     `[1,1000,0,0.5,1.5,2e-7]`,
		`12345678901234567890123`:                        `12345678901234567890123`,
		`"\u4e16\ud83d\ude00\ud800x\/"`:                  `"世😀` + "\ufffd" + `x/"`,
		`"\u0001\n\t\"\\"`:                               `"\u0001\n\t\"\\"`,
		`{"__proto__":{"constructor":1}}`:                `{"__proto__":{"constructor":1}}`,
	} {
		v, err := ordered.ParseString(in)
		if err != nil {
			t.Fatalf("Parse(%s): %v", in, err)
		}
		if got := v.JSON(); got != want {
			t.Errorf("Parse(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, in := range []string{``, `{`, `{"a"}`, `{"a":1,}`, `[1,]`, `01`, `1.`, `1e`, `-`, `"a`, `"\x"`, `"\u12"`, `nul`, `1 2`, "\"\n\"", `{a:1}`} {
		if v, err := ordered.ParseString(in); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", in, v.JSON())
		}
	}
	deep := make([]byte, 5000)
	for i := range deep {
		deep[i] = '['
	}
	if _, err := ordered.Parse(deep); err == nil {
		t.Error("deep nesting was accepted")
	}
}

func TestIndented(t *testing.T) {
	t.Parallel()
	v, err := ordered.ParseString(`{"a":{},"b":[1,{"c":2}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": 2\n    }\n  ]\n}"
	if got := v.Indented(); got != want {
		t.Errorf("Indented = %s", got)
	}
}

// TestReadsLikeTheStandardLibrary compares values, whatever the order.
func TestReadsLikeTheStandardLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.OneOf(
			rapid.SliceOf(rapid.SampledFrom([]byte(`{}[]":,\ue 01.-tn`))),
			rapid.Map(rapid.MapOf(rapid.String(), rapid.Float64()), func(m map[string]float64) []byte {
				b, err := json.Marshal(m)
				if err != nil {
					return nil
				}
				return b
			}),
		).Draw(rt, "raw")
		v, err := ordered.Parse(raw)
		if (err == nil) != json.Valid(raw) {
			rt.Fatalf("Parse(%q) error %v, standard library valid=%v", raw, err, json.Valid(raw))
		}
		if err != nil {
			return
		}
		var want, got any
		if json.Unmarshal(raw, &want) != nil || json.Unmarshal(v.Append(nil), &got) != nil || !reflect.DeepEqual(want, got) {
			rt.Fatalf("%q reads %v, want %v", raw, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\u00e9",null]}`))
	f.Add([]byte(`{"a":{"a":{}},"a":1e9}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := ordered.Parse(raw)
		if err != nil {
			return
		}
		again, err := ordered.Parse(v.Append(nil))
		if err != nil || again.JSON() != v.JSON() {
			t.Fatalf("%q does not read back: %v", raw, err)
		}
	})
}
