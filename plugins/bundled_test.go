package plugins_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
)

func TestBundledPackagesAreClean(t *testing.T) {
	t.Parallel()
	gen, findings, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers(), Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s: %s", f.Package, f)
	}
	for _, m := range gen.Plugins() {
		if m.Version != "1.0.0" || m.Entry != "go:"+m.ID {
			t.Errorf("%s: version %s, entry %s", m.ID, m.Version, m.Entry)
		}
	}
	if _, err := gen.Resolve(plugin.Request{}); err != nil {
		t.Error(err)
	}
}

// TestBodiesNameWhatTheRuntimeHas wants every tool, block and input of an agent
// in both bodies, so that the model is told what they are for.
func TestBodiesNameWhatTheRuntimeHas(t *testing.T) {
	t.Parallel()
	for _, m := range bundled.Plugins() {
		for _, r := range m.Runtimes {
			if r.Agent == nil {
				continue
			}
			var names []string
			for _, tool := range slices.Concat(r.Agent.BuiltinTools, r.Agent.PluginTools) {
				names = append(names, "`"+tool+"`")
			}
			for _, d := range r.IO.SelfData {
				names = append(names, "<"+d.As+">")
			}
			for _, in := range r.IO.Inputs {
				names = append(names, "runtime-inputs."+in.Name)
			}
			for _, lang := range []string{"en", "zh"} {
				for _, name := range names {
					if !strings.Contains(r.BodyFor(lang), name) {
						t.Errorf("%s: the %s body does not name %s", r.ID, lang, name)
					}
				}
			}
		}
	}
}
