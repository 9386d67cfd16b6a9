package gemini

import (
	"bytes"
	"encoding/json"
	"math/big"

	"github.com/covel-engine/covel/model"
)

// functionCall is a call as the API has it.
type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// nativeCalls reads the calls of kept parts and whether one is signed.
func nativeCalls(items []json.RawMessage, index int) (calls []functionCall, signed bool, err error) {
	for _, item := range items {
		var p struct {
			FunctionCall *functionCall `json:"functionCall"`
			Signature    string        `json:"thoughtSignature"`
		}
		if json.Unmarshal(item, &p) != nil {
			return nil, false, model.Configf("messages[%d].providerContinuation: an item is no part", index)
		}
		if p.FunctionCall != nil {
			calls = append(calls, *p.FunctionCall)
		}
		signed = signed || p.Signature != ""
	}
	return calls, signed, nil
}

// sameCalls refuses kept parts whose calls are not the message's.
func sameCalls(native []functionCall, calls []model.ToolCall, index int) error {
	differ := func(what string) error {
		return model.Configf("messages[%d].providerContinuation: its calls differ from the message's (%s)", index, what)
	}
	if len(native) != len(calls) {
		return differ("number of calls")
	}
	for i, n := range native {
		switch {
		case n.Name != calls[i].Name:
			return differ("name " + n.Name + ", not " + calls[i].Name)
		case n.ID != "" && n.ID != calls[i].ID:
			return differ("id " + n.ID + ", not " + calls[i].ID)
		case !sameJSON(orEmpty(n.Args), orEmpty(json.RawMessage(calls[i].Arguments))):
			return differ("arguments of " + n.Name)
		}
	}
	return nil
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage(`{}`)
	}
	return raw
}

// sameJSON says whether two texts hold the same value; numbers are compared
// exactly.
func sameJSON(a, b json.RawMessage) bool {
	x, okX := decoded(a)
	y, okY := decoded(b)
	return okX && okY && sameValue(x, y)
}

func decoded(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, v := range x {
			w, ok := y[key]
			if !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		return ok && sameNumber(x, y)
	}
	return a == b
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	const longest = 64 // an exponent could make the exact form huge
	if len(a) > longest || len(b) > longest || bytes.ContainsAny([]byte(a+b), "eE") {
		x, errX := a.Float64()
		y, errY := b.Float64()
		return errX == nil && errY == nil && x == y
	}
	x, okX := new(big.Rat).SetString(string(a))
	y, okY := new(big.Rat).SetString(string(b))
	return okX && okY && x.Cmp(y) == 0
}
