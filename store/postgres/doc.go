// Package postgres keeps the store in PostgreSQL through pgx.
//
//	st, err := postgres.Open(ctx, postgres.Config{URL: os.Getenv("COVEL_DATABASE_URL")})
//	if err != nil {
//		return err
//	}
//	defer st.Close()
//	if err := st.Migrate(ctx); err != nil {
//		return err
//	}
//
// Tables live in the first schema of the connection's search_path. Each
// transaction has one pooled connection at read committed; the session lock is
// a transaction-level advisory lock, so it ends with the transaction. A
// serialization failure or deadlock repeats the whole function, up to five
// times. Waking other processes goes over LISTEN and NOTIFY (spec 02 §12, §15).
package postgres
