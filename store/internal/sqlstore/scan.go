package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"
)

// TimeLayout is the fixed-width text of a time in SQLite.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// timeDest reads a time of either database, in UTC.
type timeDest struct{ t *time.Time }

func (d *timeDest) Scan(src any) error {
	switch v := src.(type) {
	case time.Time:
		*d.t = v.UTC()
		return nil
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		*d.t = t
		return err
	default:
		return fmt.Errorf("a time column holds a %T", src)
	}
}

// nullTimeDest reads a time that may be NULL.
type nullTimeDest struct{ t **time.Time }

func (d *nullTimeDest) Scan(src any) error {
	if src == nil {
		*d.t = nil
		return nil
	}
	t := new(time.Time)
	*d.t = t
	return (&timeDest{t}).Scan(src)
}

// raw gives a scan target that keeps JSON bytes; NULL is nil.
func raw(m *json.RawMessage) *[]byte { return (*[]byte)(m) }

// decoded reads a JSON column into a Go value; NULL leaves it alone.
type decoded struct{ v any }

func (d decoded) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), d.v)
	case []byte:
		return json.Unmarshal(v, d.v)
	default:
		return fmt.Errorf("a JSON column holds a %T", src)
	}
}

func at(t *time.Time) *timeDest { return &timeDest{t} }

func maybeAt(t **time.Time) *nullTimeDest { return &nullTimeDest{t} }
