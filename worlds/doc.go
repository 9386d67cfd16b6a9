// Package worlds holds the world packs that come with the program
// (spec 05 §16).
//
//	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
package worlds
