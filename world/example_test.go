package world_test

import (
	"fmt"
	"testing/fstest"

	"github.com/covel-engine/covel/world"
)

func ExampleLoad() {
	lib, findings, err := world.Load(world.Config{Bundled: fstest.MapFS{
		"millbrook/world.yaml":       {Data: []byte("schemaVersion: \"1.0\"\nid: millbrook\nname: Millbrook\nsummary: A village without its river.\ndefaultLocale: en\n")},
		"millbrook/world.zh-CN.yaml": {Data: []byte("name: 磨坊溪\n")},
		"millbrook/WORLD.md":         {Data: []byte("Forty houses.\n<!-- narrator-only -->\nThe river is upstairs.\n<!-- /narrator-only -->\n")},
	}})
	if err != nil || len(findings) > 0 {
		fmt.Println(findings, err)
		return
	}
	w, _ := lib.World("millbrook")
	seed, err := w.Instantiate(world.Options{Locale: "zh-CN", SessionID: "s1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: models read %q, players %q\n", seed.Snapshot.Name, seed.Snapshot.Lore, seed.Snapshot.PlayerLore)
	// Output: 磨坊溪: models read "Forty houses.\nThe river is upstairs.\n", players "Forty houses.\n"
}
