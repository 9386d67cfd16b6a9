package plugin

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawGeneration makes up to eight packages that provide, require and conflict
// about four contracts.
func drawGeneration(t *rapid.T) *Generation {
	contracts := []string{RootContract, "a@1", "b@1", "c@1"}
	some := func(label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(contracts), 0, 2, rapid.ID[string]).Draw(t, label)
	}
	g := &Generation{manifest: map[string]*Manifest{}, broken: map[string]Broken{}}
	for i := range rapid.IntRange(1, 8).Draw(t, "packages") {
		m := &Manifest{
			ID: fmt.Sprintf("p%d", i), Kind: rapid.SampledFrom([]string{"core", "plugin", "plugin"}).Draw(t, "kind"),
			Requires: some("requires"), Conflicts: some("conflicts"), User: rapid.Bool().Draw(t, "user"),
		}
		for _, c := range some("provides") {
			m.Provides = append(m.Provides, Provided{Contract: c, Default: rapid.Bool().Draw(t, "default")})
		}
		g.manifest[m.ID] = m
	}
	g.ids = sortedKeys(g.manifest)
	return g
}

func TestResolveProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawGeneration(t)
		ids := func(label string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(g.ids), 0, 3, rapid.ID[string]).Draw(t, label)
		}
		req := Request{Requested: ids("requested"), Excluded: ids("excluded"), Approved: ids("approved"), WorldRequested: ids("world"), WorldRequires: []string{"a@1"}[:rapid.IntRange(0, 1).Draw(t, "worldRequires")]}
		res, err := g.Resolve(req)
		again, _ := g.Resolve(req)
		if diff := cmp.Diff(res, again); diff != "" {
			t.Fatalf("not repeatable: %s", diff)
		}
		provided := func(c string) bool {
			return slices.ContainsFunc(res.Active, func(id string) bool { return g.manifest[id].provides(c) })
		}
		unmet := map[string]bool{}
		blocking := false
		for _, u := range res.Unmet {
			unmet[u.Contract] = true
			if provided(u.Contract) {
				t.Fatalf("%s is unmet and provided", u.Contract)
			}
			blocking = blocking || u.Code == "missing-provider" || u.Code == "ambiguous-provider" || u.Contract == RootContract
		}
		if blocking != (err != nil) {
			t.Fatalf("unmet %v, error %v", res.Unmet, err)
		}
		needed := append([]string{RootContract}, req.WorldRequires...)
		for i, id := range res.Active {
			if slices.Contains(req.Excluded, id) {
				t.Fatalf("%s is excluded and active", id)
			}
			for _, other := range res.Active[i+1:] {
				if c := conflictOf(g.manifest[id], g.manifest[other]); c != "" {
					t.Fatalf("%s and %s conflict about %s", id, other, c)
				}
			}
			needed = append(needed, g.manifest[id].Requires...)
		}
		for _, c := range needed {
			if !provided(c) && !unmet[c] {
				t.Fatalf("%s is neither provided nor unmet", c)
			}
		}
		for _, id := range res.AutoAdded {
			m := g.manifest[id]
			if !slices.ContainsFunc(needed, m.provides) {
				t.Fatalf("%s was added and nobody needs it", id)
			}
			if m.User && !slices.Contains(req.Approved, id) {
				t.Fatalf("%s of the user directory was added without approval", id)
			}
		}
		rejected := map[string]bool{}
		for _, r := range res.Rejected {
			rejected[r.ID] = true
		}
		for _, id := range append(append(slices.Clone(req.Requested), req.WorldRequested...), g.ids...) {
			wanted := g.manifest[id].Kind == "core" || slices.Contains(req.Requested, id) || slices.Contains(req.WorldRequested, id)
			if wanted && !rejected[id] && !slices.Contains(res.Active, id) {
				t.Fatalf("%s is wanted, not active and not explained", id)
			}
		}
	})
}

func TestRangeAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r, v string
		want bool
	}{
		{"*", "1.2.3", true}, {"1.x", "1.9.0", true}, {"1.x", "2.0.0", false}, {"^1.2.0", "1.3.0", true}, {"^1.2.0", "2.0.0", false}, {"^0.2.1", "0.2.9", true},
		{"^0.2.1", "0.3.0", false}, {"~1.2.3", "1.2.9", true}, {"~1.2.3", "1.3.0", false}, {">=1.0.0 <2.0.0", "1.9.9", true}, {">=1.0.0 <2.0.0", "2.0.0", false},
		{"1.0.0 || 3.0.0", "3.0.0", true}, {"=1.0.0", "1.0.1", false}, {">1.x", "2.0.0", true}, {">1.x", "1.5.0", false}, {"<=1.2", "1.2.7", true}, {">=1.0.0", "1.0.0-rc.1", false},
	} {
		v, err := parseVersion(c.v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rangeAllows(c.r, v); err != nil || got != c.want {
			t.Errorf("%q allows %s: %v %v", c.r, c.v, got, err)
		}
	}
	for _, bad := range []string{"", "latest", "1.2.3.4", "^", ">>1.0.0", "1..2", "||"} {
		if _, err := rangeAllows(bad, version{}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSettingRefuses(t *testing.T) {
	t.Parallel()
	one, five := 1.0, 5.0
	for _, c := range []struct {
		s     Setting
		value string
		ok    bool
	}{
		{Setting{Type: "text"}, `"a"`, true}, {Setting{Type: "text"}, `1`, false}, {Setting{Type: "text"}, `null`, false},
		{Setting{Type: "toggle"}, `true`, true}, {Setting{Type: "toggle"}, `"true"`, false},
		{Setting{Type: "integer", Min: &one, Max: &five}, `5`, true}, {Setting{Type: "integer", Max: &five}, `6`, false}, {Setting{Type: "integer"}, `1.5`, false},
		{Setting{Type: "slider", Min: &one}, `0.5`, false}, {Setting{Type: "number"}, `0.5`, true}, {Setting{Type: "slot"}, `"fast"`, true},
		{Setting{Type: "select", Options: []SettingOption{{Value: "a"}}}, `"a"`, true}, {Setting{Type: "select", Options: []SettingOption{{Value: "a"}}}, `"b"`, false},
	} {
		if why := c.s.Refuses([]byte(c.value)); (why == "") != c.ok {
			t.Errorf("%+v %s: %q", c.s, c.value, why)
		}
	}
}

func TestLocalized(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"en": "E", "zh": "Z", "zh-CN": "ZC"}
	for _, c := range [][3]string{{"zh-CN", "zh", "ZC"}, {"zh-Hans", "zh", "Z"}, {"zh_cn", "zh", "ZC"}, {"zh-CN", "en", "E"}, {"fr", "zh", "Z"}, {"fr", "en", "E"}} {
		if got := Localized(texts, c[0], c[1]); got != c[2] {
			t.Errorf("%v: %s", c, got)
		}
	}
	if Localized(map[string]string{"en": "E"}, "zh", "zh") != "E" {
		t.Error("without a variant English stays")
	}
}

func TestSchemaErrors(t *testing.T) {
	t.Parallel()
	s, err := CompileSchema([]byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"},"b/c":{"type":"string"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	var broken *SchemaError
	if err := s.Validate([]byte(`{"a":"x","b/c":1,"d":2}`)); !errors.As(err, &broken) || len(broken.Violations) != 3 {
		t.Fatalf("%v", err)
	}
	paths := map[string]bool{}
	for _, v := range broken.Violations {
		paths[v.Path] = true
	}
	if !paths["/a"] || !paths["/b~1c"] || !paths[""] {
		t.Errorf("%v", broken.Violations)
	}
	if err := s.Validate([]byte(`{`)); err == nil {
		t.Error("broken JSON is valid")
	}
}
