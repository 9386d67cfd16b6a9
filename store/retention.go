package store

import (
	"fmt"
	"strconv"
	"time"
)

// ParseTraceRetention reads COVEL_TRACE_RETENTION_DAYS: a whole number of days
// from 1; unset gives 0, which keeps events forever (spec 02 §18).
func ParseTraceRetention(days string) (time.Duration, error) {
	if days == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(days)
	const most = int(^uint64(0)>>1) / int(24*time.Hour)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("COVEL_TRACE_RETENTION_DAYS is %q; give a whole number of days from 1, or unset it to keep everything", days)
	}
	return time.Duration(n) * 24 * time.Hour, nil
}
