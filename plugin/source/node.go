package source

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Kind is the JSON kind of a node.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String names the kind as an author would.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "text", "a list", "a map"}[k]
}

// Node is one value of a document. All methods work on a nil Node, which is an
// absent value, so a lookup may run through several levels.
type Node struct {
	Kind Kind
	// Line is the line of the value's key, or of the value itself in a list.
	Line int
	// Text is the text, the number literal, or true or false.
	Text   string
	Items  []*Node
	Fields []Field
}

// Field is one member of a map, in written order.
type Field struct {
	Key   string
	Line  int
	Value *Node
}

// Get gives the member of a map, nil without one.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return n.Fields[i].Value
		}
	}
	return nil
}

// Has says whether a map has a member, null counts.
func (n *Node) Has(key string) bool { return n.Get(key) != nil }

// Str gives the text of a text node, "" for others.
func (n *Node) Str() string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// StrOr gives the text of a text node, def for others.
func (n *Node) StrOr(def string) string {
	if n == nil || n.Kind != String {
		return def
	}
	return n.Text
}

// Int gives the value of a whole number, def for others.
func (n *Node) Int(def int) int {
	if n == nil || n.Kind != Number {
		return def
	}
	v, err := strconv.Atoi(n.Text)
	if err != nil {
		return def
	}
	return v
}

// Float gives the value of a number.
func (n *Node) Float() (float64, bool) {
	if n == nil || n.Kind != Number {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	return v, err == nil
}

// True says whether the value is true, def for anything but a boolean.
func (n *Node) True(def bool) bool {
	if n == nil || n.Kind != Bool {
		return def
	}
	return n.Text == "true"
}

// Strings gives the texts of a list, leaving out items that are no text.
func (n *Node) Strings() []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range n.Items {
		if item.Kind == String {
			out = append(out, item.Text)
		}
	}
	return out
}

// LineOr gives the node's line, def for an absent value.
func (n *Node) LineOr(def int) int {
	if n == nil {
		return def
	}
	return n.Line
}

// JSON encodes the value: compact, written key order, no HTML escaping.
func (n *Node) JSON() json.RawMessage {
	if n == nil {
		return nil
	}
	var b bytes.Buffer
	n.encode(&b)
	return b.Bytes()
}

func (n *Node) encode(b *bytes.Buffer) {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case Bool, Number:
		b.WriteString(n.Text)
	case String:
		Quote(b, n.Text)
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.encode(b)
		}
		b.WriteByte(']')
	case Map:
		b.WriteByte('{')
		for i, f := range n.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			Quote(b, f.Key)
			b.WriteByte(':')
			f.Value.encode(b)
		}
		b.WriteByte('}')
	}
}

// Quote writes a JSON string without HTML escaping.
func Quote(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		b.WriteString(`""`) // a Go string always encodes
		return
	}
	b.Truncate(b.Len() - 1) // Encode ends with a newline
}

// Clone copies a node with everything below it.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Items = nil
	for _, item := range n.Items {
		c.Items = append(c.Items, item.Clone())
	}
	c.Fields = nil
	for _, f := range n.Fields {
		c.Fields = append(c.Fields, Field{Key: f.Key, Line: f.Line, Value: f.Value.Clone()})
	}
	return &c
}
