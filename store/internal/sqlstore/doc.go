// Package sqlstore is what the SQLite and the PostgreSQL store share: the
// named statements, the migrations, and the rules of spec 02 Part B written
// once in Go over a small connection interface.
//
// A store gives a Conn, which runs named statements, and gets Reads for
// committed data and a Tx for a transaction:
//
//	reads := sqlstore.Reads{Conn: pool}
//	tx := sqlstore.NewTx(conn, time.Now)
//
// Statements stand in queries/*.sql, one a name, with parameters ?1, ?2, …;
// a file of the same name in queries/<dialect>/ holds the few that differ.
// Migrations stand in migrations/*.sql with the dialect's types in braces.
package sqlstore
