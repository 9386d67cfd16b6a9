// Package plugin loads what authors add to the engine: packages of a PLUGIN.md,
// runtimes, schemas and prompts (spec 05 §1 to §10).
//
// Load reads every package of the binary and of the user's directory, reports
// each problem with file and line, and gives a Generation: an immutable set of
// the packages without errors. A running execution keeps the Generation that it
// started with.
//
//	gen, findings, err := plugin.Load(plugin.Config{
//		Bundled:  plugins.FS(),
//		Handlers: plugins.Handlers(),
//		UserDir:  "my-plugins",
//	})
//	if err != nil {
//		return err
//	}
//	for _, f := range findings {
//		fmt.Fprintln(os.Stderr, f) // PLUGIN.md:4: error unknown-key: …
//	}
//	resolution, err := gen.Resolve(plugin.Request{Requested: []string{"guide"}})
//	if err != nil {
//		return err // names the requirement and what to do
//	}
//	active := gen.Active(resolution.Active)
//	for _, r := range active.Runtimes() {
//		fmt.Println(r.ID, r.Schedule.Stage, len(active.Tools(r.ID)), "tools")
//	}
//
// Everything that a Generation hands out is shared and must not be changed.
package plugin
