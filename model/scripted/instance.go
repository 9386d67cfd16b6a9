package scripted

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// maxDepth bounds the nesting of a minimal instance.
const maxDepth = 16

// minimalInstance gives the smallest value that a JSON Schema plainly asks for
// (spec 04 §17.3): const, else the first enum, default, first example, else by
// type. Required properties stand in schema order.
func minimalInstance(schema json.RawMessage) json.RawMessage {
	root := parseSchema(schema)
	var b bytes.Buffer
	writeInstance(&b, root, root, 0)
	return b.Bytes()
}

// parseSchema reads a schema; JSON is YAML, whose reader keeps member order.
func parseSchema(schema json.RawMessage) yaml.MapSlice {
	var m yaml.MapSlice
	if yaml.UnmarshalWithOptions(schema, &m, yaml.UseOrderedMap()) != nil {
		return nil
	}
	return m
}

func member(m yaml.MapSlice, key string) (any, bool) {
	for _, item := range m {
		if item.Key == key {
			return item.Value, true
		}
	}
	return nil, false
}

func writeInstance(b *bytes.Buffer, root, schema yaml.MapSlice, depth int) {
	if depth > maxDepth {
		b.WriteString("null")
		return
	}
	if ref, ok := member(schema, "$ref"); ok {
		if target := resolveRef(root, ref); target != nil {
			writeInstance(b, root, target, depth+1)
			return
		}
	}
	if v, ok := member(schema, "const"); ok {
		writeValue(b, v)
		return
	}
	for _, key := range []string{"enum", "default", "examples"} {
		v, ok := member(schema, key)
		if !ok {
			continue
		}
		if key == "default" {
			writeValue(b, v)
			return
		}
		if list, isList := v.([]any); isList && len(list) > 0 {
			writeValue(b, list[0])
			return
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if v, ok := member(schema, key); ok {
			if list, isList := v.([]any); isList && len(list) > 0 {
				if option, isMap := list[0].(yaml.MapSlice); isMap {
					writeInstance(b, root, option, depth+1)
					return
				}
			}
		}
	}
	writeByType(b, root, schema, depth)
}

func writeByType(b *bytes.Buffer, root, schema yaml.MapSlice, depth int) {
	switch typeOf(schema) {
	case "object":
		writeObject(b, root, schema, depth)
	case "array":
		b.WriteByte('[')
		items, _ := member(schema, "items")
		item, _ := items.(yaml.MapSlice)
		for i := range intMember(schema, "minItems", 0) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeInstance(b, root, item, depth+1)
		}
		b.WriteByte(']')
	case "string":
		s := "text"
		if n := intMember(schema, "minLength", 0); n > utf8.RuneCountInString(s) {
			s += strings.Repeat("x", n-utf8.RuneCountInString(s))
		}
		if n := intMember(schema, "maxLength", -1); n >= 0 && n < len(s) {
			s = s[:n]
		}
		writeValue(b, s)
	case "number", "integer":
		if v, ok := member(schema, "minimum"); ok {
			writeValue(b, v)
			return
		}
		b.WriteByte('0')
	case "boolean":
		b.WriteString("false")
	default:
		b.WriteString("null")
	}
}

func writeObject(b *bytes.Buffer, root, schema yaml.MapSlice, depth int) {
	properties, _ := member(schema, "properties")
	props, _ := properties.(yaml.MapSlice)
	requiredValue, _ := member(schema, "required")
	list, _ := requiredValue.([]any)
	required := map[string]bool{}
	for _, name := range list {
		if s, ok := name.(string); ok {
			required[s] = true
		}
	}
	b.WriteByte('{')
	sep := ""
	write := func(name string, property yaml.MapSlice) {
		b.WriteString(sep)
		sep = ","
		writeValue(b, name)
		b.WriteByte(':')
		writeInstance(b, root, property, depth+1)
		delete(required, name)
	}
	for _, item := range props {
		name, _ := item.Key.(string)
		if required[name] {
			property, _ := item.Value.(yaml.MapSlice)
			write(name, property)
		}
	}
	for _, name := range list { // required without a property of its own
		if s, ok := name.(string); ok && required[s] {
			write(s, nil)
		}
	}
	b.WriteByte('}')
}

// typeOf gives the first type of a schema, guessed from its keywords when it
// names none.
func typeOf(schema yaml.MapSlice) string {
	v, _ := member(schema, "type")
	switch t := v.(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			s, _ := t[0].(string)
			return s
		}
	}
	for _, hint := range [][2]string{{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"minLength", "string"}, {"minimum", "number"}} {
		if _, ok := member(schema, hint[0]); ok {
			return hint[1]
		}
	}
	return "null"
}

func resolveRef(root yaml.MapSlice, ref any) yaml.MapSlice {
	path, _ := ref.(string)
	if path == "#" {
		return root
	}
	rest, ok := strings.CutPrefix(path, "#/")
	if !ok {
		return nil
	}
	at := root
	for _, step := range strings.Split(rest, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		v, ok := member(at, step)
		if !ok {
			return nil
		}
		if at, ok = v.(yaml.MapSlice); !ok {
			return nil
		}
	}
	return at
}

func intMember(schema yaml.MapSlice, key string, otherwise int) int {
	v, ok := member(schema, key)
	if !ok {
		return otherwise
	}
	switch n := v.(type) {
	case uint64:
		return int(min(n, 1<<20))
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return otherwise
}

// writeValue writes a YAML value as JSON, maps in their order.
func writeValue(b *bytes.Buffer, v any) {
	switch t := v.(type) {
	case yaml.MapSlice:
		b.WriteByte('{')
		for i, item := range t {
			if i > 0 {
				b.WriteByte(',')
			}
			writeValue(b, item.Key)
			b.WriteByte(':')
			writeValue(b, item.Value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range t {
			if i > 0 {
				b.WriteByte(',')
			}
			writeValue(b, item)
		}
		b.WriteByte(']')
	default:
		raw, err := json.Marshal(t)
		if err != nil {
			raw = []byte("null")
		}
		b.Write(raw)
	}
}

// jsonOf is an ordered map as JSON text.
func jsonOf(m yaml.MapSlice) string {
	var b bytes.Buffer
	writeValue(&b, m)
	return b.String()
}
