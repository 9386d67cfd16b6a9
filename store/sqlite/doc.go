// Package sqlite keeps the store in one SQLite file, without cgo.
//
//	st, err := sqlite.Open(ctx, sqlite.Config{Path: "covel.db"})
//	if err != nil {
//		return err
//	}
//	defer st.Close()
//	if err := st.Migrate(ctx); err != nil {
//		return err
//	}
//
// The file is in WAL mode. One connection writes: writers of this process
// queue for it and begin with BEGIN IMMEDIATE, so a transaction never loses
// its snapshot. A small pool reads the last committed state meanwhile, also
// while a transaction is open. An engine holds a lock file beside the
// database; a second one is refused with IN_USE, read-only openers are not.
//
// An unreadable, damaged or foreign file is refused with UNREADABLE and left
// as it is (spec 02 §12).
package sqlite
