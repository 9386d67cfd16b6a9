// Package ordered holds JSON values whose object members keep their order, so
// that data reaches a model the way it was written (spec 01 §1.3).
//
//	v, err := ordered.Parse([]byte(`{"b":1,"a":"<x>"}`))
//	if err != nil {
//		return err
//	}
//	v.JSON() // {"b":1,"a":"<x>"}: compact, members in order, nothing escaped
//
// A Value is immutable by convention: code that changes one builds another.
package ordered
