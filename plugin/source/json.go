package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ParseJSON reads one JSON document, keeping key order and lines; a duplicate
// key is refused. The error is a *SyntaxError.
func ParseJSON(text []byte) (*Node, error) {
	if line := badUTF8(text); line > 0 {
		return nil, &SyntaxError{Line: line, Problem: "the text is not UTF-8"}
	}
	r := &jsonReader{text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	r.dec.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fail("the file must hold one JSON value")
	}
	root.Line = 1
	return root, nil
}

type jsonReader struct {
	text   []byte
	dec    *json.Decoder
	offset int64
	line   int
	values int
}

// here moves the line counter to the end of the last token.
func (r *jsonReader) here() int {
	to := r.dec.InputOffset()
	r.line += bytes.Count(r.text[r.offset:to], []byte("\n"))
	r.offset = to
	return r.line
}

func (r *jsonReader) fail(format string, args ...any) error {
	return &SyntaxError{Line: r.here(), Problem: fmt.Sprintf(format, args...)}
}

func (r *jsonReader) token() (json.Token, int, error) {
	t, err := r.dec.Token()
	if err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at := 1 + bytes.Count(r.text[:min(syntax.Offset, int64(len(r.text)))], []byte("\n"))
			return nil, 0, &SyntaxError{Line: at, Problem: "the JSON can not be read: " + syntax.Error()}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, 0, r.fail("the JSON ends too early")
		}
		return nil, 0, r.fail("the JSON can not be read: %v", err)
	}
	return t, r.here(), nil
}

func (r *jsonReader) value(depth int) (*Node, error) {
	t, at, err := r.token()
	if err != nil {
		return nil, err
	}
	return r.valueOf(t, at, depth)
}

func (r *jsonReader) valueOf(t json.Token, at, depth int) (*Node, error) {
	r.values++
	if depth > maxDepth || r.values > maxValues {
		return nil, r.fail("the document is nested more than %d levels deep or holds more than %d values", maxDepth, maxValues)
	}
	switch v := t.(type) {
	case nil:
		return &Node{Kind: Null, Line: at}, nil
	case bool:
		return &Node{Kind: Bool, Line: at, Text: fmt.Sprint(v)}, nil
	case json.Number:
		return &Node{Kind: Number, Line: at, Text: v.String()}, nil
	case string:
		return &Node{Kind: String, Line: at, Text: v}, nil
	case json.Delim:
		if v == '[' {
			return r.list(at, depth)
		}
		if v == '{' {
			return r.object(at, depth)
		}
	}
	return nil, r.fail("unexpected %v", t)
}

func (r *jsonReader) list(at, depth int) (*Node, error) {
	out := &Node{Kind: List, Line: at}
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, item)
	}
	_, _, err := r.token()
	return out, err
}

func (r *jsonReader) object(at, depth int) (*Node, error) {
	out := &Node{Kind: Map, Line: at}
	seen := map[string]bool{}
	for r.dec.More() {
		t, keyLine, err := r.token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, r.fail("a key must be text, not %v", t)
		}
		if seen[key] {
			return nil, r.fail("key %q is written twice in one object", key)
		}
		seen[key] = true
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		value.Line = keyLine
		out.Fields = append(out.Fields, Field{Key: key, Line: keyLine, Value: value})
	}
	_, _, err := r.token()
	return out, err
}
