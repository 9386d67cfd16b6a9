// Package world loads world packs and turns one into what a new session
// stores (spec 05 §12).
//
// A pack is a directory: world.yaml, WORLD.md, characters, lorebook,
// dimensions and data for plugins, each with overlays per locale. Load checks
// all of it; Instantiate resolves the overlays once into plain texts.
//
//	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
//	if err != nil {
//		return err
//	}
//	w, ok := lib.World("lanternfall")
//	if !ok {
//		return findings
//	}
//	resolution, err := gen.Resolve(w.Request(nil, nil))
//	if err != nil {
//		return err
//	}
//	seed, err := w.Instantiate(world.Options{Active: gen.Active(resolution.Active), Locale: "zh-CN", SessionID: "s1"})
//	if err != nil {
//		return err // *turn.Error: world-data-unreceived names source and contract
//	}
//	// seed.Session, seed.Characters, seed.Lorebook, seed.Data, seed.Snapshot
package world
