package locale

import (
	"fmt"
	"strings"
)

// Codes of this package (spec 01 §20).
const (
	CodeBadSetting      = "bad-setting"
	CodeTemplateMissing = "template-missing"
	CodeBadCatalogue    = "bad-catalogue"
)

// Error is a configuration error of this package. All of them are found at
// start-up or at load.
type Error struct {
	Code  string
	Field string
	Value string
	Text  string
	Err   error
}

// Error gives the text.
func (e *Error) Error() string { return e.Text }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func badSetting(field, value string, allowed ...string) *Error {
	return &Error{
		Code: CodeBadSetting, Field: field, Value: value,
		Text: fmt.Sprintf("%s is %q; set it to %s or leave it empty", field, value, strings.Join(allowed, " or ")),
	}
}
