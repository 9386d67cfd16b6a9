package plugins_test

import (
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
