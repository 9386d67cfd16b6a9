package model

import (
	"encoding/json"
	"slices"
)

// Fields is an ordered set of JSON members, the free part of a request body.
// The zero value is empty.
type Fields struct {
	keys   []string
	values map[string]json.RawMessage
}

// Get gives the value of a key, nil when it is absent.
func (f *Fields) Get(key string) json.RawMessage {
	if f == nil {
		return nil
	}
	return f.values[key]
}

// Has says whether the key is present.
func (f *Fields) Has(key string) bool { return f.Get(key) != nil }

// Set adds a member at the end, or replaces it in its place.
func (f *Fields) Set(key string, value json.RawMessage) {
	if f.values == nil {
		f.values = map[string]json.RawMessage{}
	}
	if _, ok := f.values[key]; !ok {
		f.keys = append(f.keys, key)
	}
	f.values[key] = value
}

// Delete removes a member.
func (f *Fields) Delete(key string) {
	if _, ok := f.values[key]; ok {
		delete(f.values, key)
		f.keys = slices.DeleteFunc(f.keys, func(k string) bool { return k == key })
	}
}

// Keys lists the keys in order.
func (f *Fields) Keys() []string {
	if f == nil {
		return nil
	}
	return f.keys
}

// Sort puts the keys into alphabetical order.
func (f *Fields) Sort() { slices.Sort(f.keys) }

// member gives a member of an object-valued field, nil when there is none.
func (f *Fields) member(key, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(f.Get(key), &m) != nil {
		return nil
	}
	return m[name]
}

// setMember sets one member of an object-valued field, keeping the others; a
// nil value removes it, and the field with it when nothing is left.
func (f *Fields) setMember(key, name string, value json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(f.Get(key), &m) != nil || m == nil {
		m = map[string]json.RawMessage{}
	}
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
	if len(m) == 0 {
		f.Delete(key)
		return
	}
	raw, _ := json.Marshal(m) // raw messages were checked when they came in
	f.Set(key, raw)
}

// quoted is the JSON form of a text.
func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always has a JSON form
	return raw
}
