package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Refuses says why a value does not fit the setting, "" when it does
// (spec 05 §8).
func (s Setting) Refuses(value json.RawMessage) string {
	switch s.Type {
	case "text", "textarea", "slot":
		if _, ok := decodeAs[string](value); !ok {
			return "is not text"
		}
	case "toggle":
		if _, ok := decodeAs[bool](value); !ok {
			return "is not true or false"
		}
	case "select":
		text, ok := decodeAs[string](value)
		if !ok {
			return "is not text"
		}
		var values []string
		for _, o := range s.Options {
			if o.Value == text {
				return ""
			}
			values = append(values, o.Value)
		}
		return "is not one of " + strings.Join(values, ", ")
	case "number", "integer", "slider":
		return s.refusesNumber(value)
	}
	return ""
}

func (s Setting) refusesNumber(value json.RawMessage) string {
	v, ok := decodeAs[float64](value)
	switch {
	case !ok:
		return "is not a number"
	case s.Type == "integer" && v != math.Trunc(v):
		return "is not a whole number"
	case s.Min != nil && v < *s.Min:
		return fmt.Sprintf("is below min %v", *s.Min)
	case s.Max != nil && v > *s.Max:
		return fmt.Sprintf("is above max %v", *s.Max)
	}
	return ""
}

func decodeAs[T any](value json.RawMessage) (T, bool) {
	var v T
	if bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
		return v, false
	}
	err := json.Unmarshal(value, &v)
	return v, err == nil
}
