package plugins_test

import (
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
)

func BenchmarkLoadBundled(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gen.Resolve(plugin.Request{Requested: []string{"guide", "affinity"}, WorldRequires: []string{"action-check@1"}}); err != nil {
			b.Fatal(err)
		}
	}
}
