package commit

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Merging an object is merging its members by name; a known name keeps its
// place, null removes.
func FuzzMergeObject(f *testing.F) {
	f.Add(`{"a":1,"b":2}`, `{"b":null,"c":{"x":[1]}}`)
	f.Add(`null`, `{"a":"\u0041"}`)
	f.Add(`{}`, `{"a":null}`)
	f.Add(`{"a":1,"a":2}`, `{"a":3}`)
	f.Fuzz(func(t *testing.T, base, patch string) {
		var old, changes, want map[string]any
		if !json.Valid([]byte(base)) || json.Unmarshal([]byte(patch), &changes) != nil || changes == nil || !isObject([]byte(patch)) {
			return
		}
		if json.Unmarshal([]byte(base), &old) != nil {
			old = nil
		}
		names, err := members([]byte(patch))
		if err != nil || len(names) != len(changes) {
			return // a name that stands twice has no one meaning
		}
		want = map[string]any{}
		maps.Copy(want, old)
		for k, v := range changes {
			if want[k] = v; v == nil {
				delete(want, k)
			}
		}
		merged, err := mergeObject([]byte(base), []byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		if names, err := members([]byte(base)); isObject([]byte(base)) && (err != nil || len(names) != len(old)) {
			return
		}
		var got map[string]any
		if err := json.Unmarshal(merged, &got); err != nil {
			t.Fatalf("%s over %s gives %s: %v", patch, base, merged, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s over %s gives %s: %s", patch, base, merged, diff)
		}
	})
}
