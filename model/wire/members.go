package wire

import (
	"bytes"
	"encoding/json"
)

// Member is one member of an object, its value as it was written.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members reads an object's members in their order, values untouched. It is
// false for anything but one JSON object.
func Members(raw json.RawMessage) ([]Member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var members []Member
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		members = append(members, Member{name, value})
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, false
	}
	return members, true
}

// Object writes members as one object.
func Object(members []Member) json.RawMessage {
	w := NewWriter(64)
	w.Open('{')
	for _, m := range members {
		w.Key(m.Name).Raw(m.Value)
	}
	return w.Close('}').Bytes()
}

// WithoutMember gives an object without one of its members; the others keep
// order and spelling. What is no object stays.
func WithoutMember(raw json.RawMessage, name string) json.RawMessage {
	members, ok := Members(raw)
	if !ok {
		return raw
	}
	kept := members[:0]
	for _, m := range members {
		if m.Name != name {
			kept = append(kept, m)
		}
	}
	return Object(kept)
}
