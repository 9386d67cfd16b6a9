package devserver

import "fmt"

// ShardCountError says that a database file was made with another number of
// history shards than the configuration asks for. The number cannot be
// changed afterwards: workflows are spread over the shards by it.
type ShardCountError struct {
	// Path is the database file.
	Path string
	// Stored is the file's number of shards.
	Stored int
	// Wanted is Config.HistoryShards.
	Wanted int
}

// Error implements error.
func (e *ShardCountError) Error() string {
	return fmt.Sprintf("devserver: %s was made with %d history shards, not %d; use HistoryShards %d, or another data directory",
		e.Path, e.Stored, e.Wanted, e.Stored)
}
