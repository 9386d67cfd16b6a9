// Package pgtest gives tests a real PostgreSQL. A test binary asks for it in
// its TestMain and gets one private server, started with the first database:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		url := pgtest.Database(t) // empty, dropped with the test
//	}
//
// The server comes from the system's binaries, on a socket in a temporary
// directory, never as root. With COVEL_TEST_DATABASE_URL set, databases are
// made on that server instead. Without either, tests skip, but fail when CI is
// set.
package pgtest
