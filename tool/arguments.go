package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// ArgumentHash identifies the arguments of a call: the first 16 hex digits of
// SHA-256 over their JSON with sorted keys, or over the text itself when it is
// no JSON (spec 03 §11.9).
func ArgumentHash(arguments string) string {
	canonical := []byte(arguments)
	if len(arguments) <= maxDataArguments {
		d := json.NewDecoder(strings.NewReader(arguments))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil && !d.More() {
			if b, err := json.Marshal(v); err == nil { // maps are written in key order
				canonical = b
			}
		}
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:8])
}

// parse gives the arguments as compact JSON, or the refusal: they must be one
// JSON object within the bounds of size and nesting.
func parse(arguments string, maxBytes, maxNesting int) (json.RawMessage, *refusal) {
	if len(arguments) > maxBytes {
		return nil, refusef(turn.ResultInvalidArgs, "the arguments have %d bytes; at most %d are taken", len(arguments), maxBytes)
	}
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}" // a call without arguments
	}
	if depth := nesting(arguments); depth > maxNesting {
		return nil, refusef(turn.ResultInvalidArgs, "the arguments are nested %d levels deep; at most %d are taken", depth, maxNesting)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(arguments)); err != nil {
		return nil, refusef(turn.ResultInvalidArgs, "the arguments are no JSON: %v; send one JSON object", err)
	}
	if b.Bytes()[0] != '{' {
		return nil, refusef(turn.ResultInvalidArgs, "the arguments are no JSON object; send one JSON object")
	}
	return b.Bytes(), nil
}

// nesting counts how deep brackets open outside of strings. It never recurses,
// so that hostile text costs no stack.
func nesting(s string) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// Problem is one member of a refusal's details.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// invalid turns a schema's complaints into a refusal that names each field.
func invalid(tool string, err error) *refusal {
	var problems []Problem
	if broken, ok := err.(*plugin.SchemaError); ok { //nolint:errorlint // Validate returns it bare
		for _, v := range broken.Violations {
			problems = append(problems, Problem{Field: dotted(v.Path), Message: v.Problem})
		}
	} else {
		problems = []Problem{{Field: "arguments", Message: err.Error()}}
	}
	return violation(tool, problems...)
}

func violation(tool string, problems ...Problem) *refusal {
	if len(problems) > maxProblems {
		problems = problems[:maxProblems]
	}
	parts := make([]string, len(problems))
	for i, p := range problems {
		parts[i] = p.Field + ": " + p.Message
	}
	r := refusef(turn.ResultValidationError, "the arguments do not fit %s: %s", tool, strings.Join(parts, "; "))
	r.details, _ = json.Marshal(problems) // texts only: cannot fail
	return r
}

// dotted writes a JSON Pointer as a field path: queries[0].path.
func dotted(pointer string) string {
	if pointer == "" {
		return "arguments"
	}
	var b strings.Builder
	for _, seg := range strings.Split(pointer, "/")[1:] {
		seg = strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
		if _, err := strconv.Atoi(seg); err == nil {
			fmt.Fprintf(&b, "[%s]", seg)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(seg)
	}
	return b.String()
}
