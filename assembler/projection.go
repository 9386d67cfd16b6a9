package assembler

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
)

// ModelFacingJSON gives data without bookkeeping (spec 01 §9): session ids,
// UUIDs under …Id names and instants under …At names go, at every depth. The
// argument is not changed; the answer is model JSON. Text that is no JSON is an
// error.
func ModelFacingJSON(raw json.RawMessage) (json.RawMessage, error) {
	v, err := ordered.Parse(raw)
	if err != nil {
		return nil, err
	}
	return project(v).Append(nil), nil
}

func project(v ordered.Value) ordered.Value {
	switch v.Kind {
	case ordered.Array:
		items := make([]ordered.Value, len(v.Items))
		for i := range v.Items {
			items[i] = project(v.Items[i])
		}
		return ordered.List(items...)
	case ordered.Object:
		members := make([]ordered.Member, 0, len(v.Members))
		for _, m := range v.Members {
			if !bookkeeping(m.Key, m.Value) {
				members = append(members, ordered.Member{Key: m.Key, Value: project(m.Value)})
			}
		}
		return ordered.Obj(members...)
	default:
		return v
	}
}

func bookkeeping(name string, v ordered.Value) bool {
	switch {
	case name == "sessionId":
		return true
	case name == "id", strings.HasSuffix(name, "Id"), strings.HasSuffix(name, "Ids"):
		if v.Kind == ordered.String {
			return isUUID(v.Text)
		}
		if v.Kind != ordered.Array || len(v.Items) == 0 {
			return false
		}
		for _, item := range v.Items {
			if item.Kind != ordered.String || !isUUID(item.Text) {
				return false
			}
		}
		return true
	case name == "timestamp", strings.HasSuffix(name, "At"):
		return v.Kind == ordered.String && isInstant(v.Text)
	default:
		return false
	}
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// isInstant matches YYYY-MM-DDTHH:MM:SS[.fraction](Z or ±HH:MM).
func isInstant(s string) bool {
	rest, ok := matchDigits(s, "dddd-dd-ddTdd:dd:dd")
	if !ok {
		return false
	}
	if strings.HasPrefix(rest, ".") {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	if rest == "Z" {
		return true
	}
	if rest == "" || rest[0] != '+' && rest[0] != '-' {
		return false
	}
	rest, ok = matchDigits(rest[1:], "dd:dd")
	return ok && rest == ""
}

func matchDigits(s, pattern string) (string, bool) {
	if len(s) < len(pattern) {
		return "", false
	}
	for i := range len(pattern) {
		digit := s[i] >= '0' && s[i] <= '9'
		if pattern[i] == 'd' && !digit || pattern[i] != 'd' && pattern[i] != s[i] {
			return "", false
		}
	}
	return s[len(pattern):], true
}
