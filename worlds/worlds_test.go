package worlds_test

import (
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

func TestLanternfallInstantiates(t *testing.T) {
	t.Parallel()
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s: %s", f.Package, f)
	}
	w, ok := lib.World("lanternfall")
	if !ok {
		t.Fatal("lanternfall did not load")
	}
	res, err := gen.Resolve(w.Request(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, locale := range []string{"en", "zh-CN"} {
		seed, err := w.Instantiate(world.Options{Active: gen.Active(res.Active), Locale: locale, SessionID: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v plugins, %d characters, %d lore, %d rows, %d dimensions, %v", locale, seed.Session.ActivePlugins, len(seed.Characters), len(seed.Lorebook), len(seed.Data), len(seed.Dimensions), seed.Warnings)
	}
}
