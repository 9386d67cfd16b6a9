package commit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// rowID names a row after what it is, so that every call of one commit makes
// the same ids. The lengths keep ("a", "bc") and ("ab", "c") apart.
func rowID(kind string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return kind + "-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// id names a row of this execution.
func (p *Plan) id(kind string, parts ...string) string {
	return rowID(kind, append([]string{p.SessionID, p.ExecutionID}, parts...)...)
}
