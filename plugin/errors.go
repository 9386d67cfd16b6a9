package plugin

import "github.com/covel-engine/covel/turn"

// refusef makes a *turn.Error of a code of spec 05. Findings, creation errors
// and refused values are the caller's fault: kind invalid, unless the code has
// a kind of its own.
func refusef(op, code, format string, args ...any) *turn.Error {
	e := turn.Errorf(op, code, format, args...)
	if e.Kind == turn.KindInternal {
		e.Kind = turn.KindInvalid
	}
	return e
}
