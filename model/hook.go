package model

import "context"

// Hook observes the attempts on targets. A stage of hooks waits at most one
// second in total; one that fails or is slow only leaves a warning (spec 04 §6.1).
type Hook interface {
	// BeforeTarget is told of a target before its request is sent.
	BeforeTarget(ctx context.Context, t Target, id Identity) error
	// AfterTarget is told how it went; exactly one of result and err is set.
	AfterTarget(ctx context.Context, t Target, id Identity, result *Result, err *Error) error
}
