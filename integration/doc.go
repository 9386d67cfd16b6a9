// Package integration plays whole games with real processes: the covel binary,
// a real Temporal server, SQLite and a real PostgreSQL, a real browser, and
// workers that are killed. It holds tests only.
package integration
