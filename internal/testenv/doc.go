// Package testenv runs the real covel binary for integration tests. Test
// binaries never link the embedded Temporal server: they start covel as a
// process and connect to it, so that they build fast, kills are real, and the
// tests themselves can run under the race detector.
//
//	dir := testenv.DataDir(t)
//	dev := testenv.Dev(t, dir, "--no-worker")
//	worker := testenv.Start(t, testenv.Config{
//		Args: []string{"worker", "--json"},
//		Env: []string{
//			"TEMPORAL_ADDRESS=" + dev.Ready.Temporal,
//			"COVEL_DATABASE_URL=" + databaseURL,
//			"COVEL_FAILPOINT=CommitTurn:before:kill",
//		},
//		Failpoints: true,
//	})
//	worker.Wait() // it kills itself
//
// The rules:
//
//   - A process is started with a clean environment: nothing of the caller's
//     COVEL_* and TEMPORAL_* variables reaches it, and its working directory
//     is one of its own, so no covel.toml or llm.toml is picked up.
//   - Start returns when the process has printed its ready line; it never
//     waits for a time.
//   - Every process is killed when its test ends; what it wrote is logged when
//     the test failed.
//   - The binary is built once a machine and kept in the user's cache
//     directory; the go command decides whether it is still up to date.
package testenv
