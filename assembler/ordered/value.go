package ordered

import "strconv"

// Kind is the type of a value.
type Kind uint8

// Kinds. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one JSON value. Text is a string's content, or a number or boolean
// as it is written in model JSON.
type Value struct {
	Kind    Kind
	Text    string
	Items   []Value
	Members []Member
}

// Member is one member of an object. Keys of an object differ.
type Member struct {
	Key   string
	Value Value
}

// Str makes a string.
func Str(s string) Value { return Value{Kind: String, Text: s} }

// Int makes a number.
func Int(n int) Value { return Value{Kind: Number, Text: strconv.Itoa(n)} }

// Boolean makes a boolean.
func Boolean(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// Obj makes an object of members in the given order.
func Obj(members ...Member) Value { return Value{Kind: Object, Members: members} }

// List makes an array.
func List(items ...Value) Value { return Value{Kind: Array, Items: items} }

// Get reads a member of an object.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind != Object {
		return Value{}, false
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// Member reads a member of an object, null when there is none.
func (v Value) Member(key string) Value {
	m, _ := v.Get(key)
	return m
}

// With gives a copy of an object in which key has the value: in its place when
// it is there, else as the last member.
func (v Value) With(key string, value Value) Value {
	members := make([]Member, len(v.Members), len(v.Members)+1)
	copy(members, v.Members)
	for i := range members {
		if members[i].Key == key {
			members[i].Value = value
			return Value{Kind: Object, Members: members}
		}
	}
	return Value{Kind: Object, Members: append(members, Member{key, value})}
}

// Without gives a copy of an object that lacks key.
func (v Value) Without(key string) Value {
	members := make([]Member, 0, len(v.Members))
	for _, m := range v.Members {
		if m.Key != key {
			members = append(members, m)
		}
	}
	return Value{Kind: Object, Members: members}
}

// Float reads a number.
func (v Value) Float() (float64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return f, err == nil
}
