package compaction

import (
	"errors"
	"fmt"
)

// Reason says why an attempt failed or was skipped (spec 02 §9.1, §9.4).
type Reason string

// Reasons of failed attempts.
const (
	InvalidWindow       Reason = "invalid_window"
	InvalidLocale       Reason = "invalid_locale"
	TemplateMissing     Reason = "template_missing"
	InputWindowTooSmall Reason = "input_window_too_small"
	OldestRowTooLarge   Reason = "oldest_row_too_large"
	RequestTooLarge     Reason = "request_too_large"
	ModelError          Reason = "model_error"
	Timeout             Reason = "timeout"
	OutputCut           Reason = "output_cut"
	BlankReply          Reason = "blank_reply"
	CannotBound         Reason = "cannot_bound"
	BudgetTooSmall      Reason = "budget_too_small"
	InvalidResult       Reason = "invalid_result"
	SummariesChanged    Reason = "summaries_changed"
	StoreError          Reason = "store_error"
	ProviderError       Reason = "provider_error"
)

// Reasons of attempts that did not take place.
const (
	PrefixDiffers Reason = "prefix_differs"
	HookAborted   Reason = "hook_aborted"
	HookFailed    Reason = "hook_failed"
)

// Counted says whether a failure adds to the session's failures in a row.
func (r Reason) Counted() bool { return r != OldestRowTooLarge }

// known says whether a provider may give the reason.
func (r Reason) known() bool {
	switch r {
	case InvalidWindow, InvalidLocale, TemplateMissing, InputWindowTooSmall, OldestRowTooLarge, RequestTooLarge, ModelError,
		Timeout, OutputCut, BlankReply, CannotBound, BudgetTooSmall, InvalidResult, SummariesChanged, StoreError, ProviderError:
		return true
	}
	return false
}

// Step is the part of an attempt that failed.
type Step string

// Steps of an attempt.
const (
	StepPlan     Step = "plan"
	StepFresh    Step = "fresh"
	StepMerge    Step = "merge"
	StepValidate Step = "validate"
	StepSave     Step = "save"
)

// Error is a failed attempt. Detail holds no story text.
type Error struct {
	Reason Reason
	Step   Step
	Detail string
	// RowID, Needed and Available (tokens) are set for OldestRowTooLarge.
	RowID     string
	Needed    int
	Available int
	Err       error
}

// Error gives reason, step and detail.
func (f *Error) Error() string {
	return fmt.Sprintf("compaction: %s (%s): %s", f.Reason, f.Step, f.Detail)
}

// Unwrap gives the cause.
func (f *Error) Unwrap() error { return f.Err }

func failf(reason Reason, step Step, format string, args ...any) *Error {
	return &Error{Reason: reason, Step: step, Detail: fmt.Sprintf(format, args...)}
}

// AsError gives a provider's error as an Error; what is none, or has an
// unknown reason, is provider_error (spec 02 §5.5).
func AsError(err error) *Error {
	var f *Error
	if !errors.As(err, &f) {
		return &Error{Reason: ProviderError, Step: StepPlan, Detail: err.Error(), Err: err}
	}
	if f.Reason.known() {
		return f
	}
	return &Error{Reason: ProviderError, Step: f.Step, Detail: fmt.Sprintf("unknown reason %q: %s", f.Reason, f.Detail), Err: err}
}
