package sqlite

import (
	"sync"
	"time"

	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// dialect reads the embedded statements once; they are the same for every store.
var dialect = sync.OnceValues(func() (*sqlstore.Dialect, error) {
	d := &sqlstore.Dialect{
		Name:  "sqlite",
		Param: '?',
		Types: map[string]string{
			"text": "TEXT", "json": "TEXT", "time": "TEXT", "bool": "INTEGER", "bytes": "BLOB", "int": "INTEGER",
			"serial": "INTEGER PRIMARY KEY", "table": "STRICT",
		},
		Bool: func(b bool) any {
			if b {
				return int64(1)
			}
			return int64(0)
		},
		Time: func(t time.Time) any { return t.Format(sqlstore.TimeLayout) },
	}
	return d, d.Load()
})
