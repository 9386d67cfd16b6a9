package plugin_test

import (
	"bytes"
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
)

// TestArchive: the bundled packages come back as the set that they were.
func TestArchive(t *testing.T) {
	t.Parallel()
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := gen.Archive()
	if err != nil {
		t.Fatal(err)
	}
	again, err := gen.Archive()
	if err != nil || !bytes.Equal(archive, again) {
		t.Errorf("two archives of one set differ: %v", err)
	}
	empty, _, err := plugin.Load(plugin.Config{Handlers: plugins.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	restored, err := empty.Restore(archive)
	if err != nil {
		t.Fatal(err)
	}
	if restored.ID != gen.ID || len(restored.Plugins()) != len(gen.Plugins()) || empty.ID == gen.ID {
		t.Errorf("restored %s with %d plugins; want %s with %d", restored.ID, len(restored.Plugins()), gen.ID, len(gen.Plugins()))
	}
	if _, ok := restored.Function("dice-check/roller"); !ok {
		t.Error("a restored function has no handler")
	}
	if _, err := gen.Restore([]byte("no zip")); err == nil {
		t.Error("something that is no archive is taken")
	}
}
