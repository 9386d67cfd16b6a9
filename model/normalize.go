package model

import (
	"errors"

	"github.com/covel-engine/covel/model/transport"
)

// Normalize gives an error its type: typed errors pass unchanged, raw
// transport errors become PROVIDER_ERROR, retriable only for known link
// failures (spec 04 §6.5).
func Normalize(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var refused *transport.RefusedError
	if errors.As(err, &refused) {
		return &Error{Code: CodeConfig, Message: "baseUrl: " + refused.Error(), Err: err}
	}
	return &Error{Code: CodeProvider, Message: innermost(err).Error(), Retriable: LinkFailure(err), Err: err}
}

// LinkFailure says whether an error is a known failure of the link.
func LinkFailure(err error) bool { return transport.LinkFailure(err) }

// innermost unwraps to the cause that says most.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
