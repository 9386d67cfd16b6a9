// Package plugins holds the packages that come with the program: their files,
// one directory per package, and their Go code, one file per package
// (spec 05 §15).
//
//	gen, findings, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
//
// Handlers read only what their call hands them (plugin.View) and answer with
// values and proposals; none of them does I/O of its own.
package plugins
