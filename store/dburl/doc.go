// Package dburl opens the store that COVEL_DATABASE_URL names (spec 02 §12):
//
//	st, err := dburl.Open(ctx, os.Getenv("COVEL_DATABASE_URL"), dataDir)
//
// Empty is covel.db in the data directory; a path or sqlite:// and a path is
// that SQLite file; postgres:// or postgresql:// is PostgreSQL. It stands
// apart from package store, which imports neither database.
package dburl
