package postgres

import (
	"sync"
	"time"

	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// dialect reads the embedded statements once; they are the same for every store.
var dialect = sync.OnceValues(func() (*sqlstore.Dialect, error) {
	d := &sqlstore.Dialect{
		Name:  "postgres",
		Param: '$',
		Types: map[string]string{
			// Collation C orders by bytes, as SQLite does.
			"text": `text COLLATE "C"`, "json": "json", "time": "timestamptz", "bool": "boolean", "bytes": "bytea",
			"int": "bigint", "serial": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "table": "",
		},
		Bool: func(b bool) any { return b },
		Time: func(t time.Time) any { return t },
	}
	return d, d.Load()
})
