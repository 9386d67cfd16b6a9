package model

import (
	"context"
	"errors"
)

// RuntimeRetry decides what a runtime does after one of its calls came back
// (spec 04 §7.3), on top of the gateway's own re-sends and under the same
// Budget. It is a value without I/O: the caller counts and calls.
type RuntimeRetry struct {
	MaxRetries int
	Retries    int  // retries so far
	Story      bool // the reply is shown while it arrives
	Shown      bool // some of this reply was shown
	Streamed   bool // this call was streamed
	Whole      bool // a non-streamed try was made already
	Hinted     bool // the cut-reply hint was given already
}

// RetryAction is what to do next.
type RetryAction string

// Actions. The zero value keeps what came, reply or failure.
const (
	RetryKeep RetryAction = ""
	// RetrySame makes the same call again; partial output is discarded.
	RetrySame RetryAction = "same"
	// RetryWhole makes the same call once more, not streamed.
	RetryWhole RetryAction = "whole"
	// RetryHinted makes the call again with the cut-reply hint.
	RetryHinted RetryAction = "hinted"
	// RetryTooLong gives the reply up: it was cut twice.
	RetryTooLong RetryAction = "too-long"
)

// AfterFailure decides after a failed call.
func (r RuntimeRetry) AfterFailure(err error) RetryAction {
	e := Normalize(err)
	switch {
	case e.Code == CodeConfig, e.Code == CodeSchema, e.Code == CodeBudgetExceeded, errors.Is(err, context.Canceled):
		return RetryKeep
	case r.Story && r.Shown:
		return RetryKeep
	case e.Retriable && r.Retries < r.MaxRetries:
		return RetrySame
	case r.Streamed && !r.Shown && !r.Whole && e.StatusCode != 400 && e.StatusCode != 401:
		return RetryWhole
	}
	return RetryKeep
}

// AfterReply decides after a reply: one that was cut at the output limit is
// kept if it is a story of text only, asked for once more with the hint
// otherwise, and given up the second time.
func (r RuntimeRetry) AfterReply(result *Result) RetryAction {
	switch {
	case result.FinishReason != FinishLength, r.Story && len(result.ToolCalls) == 0 && result.Text != "":
		return RetryKeep
	case r.Hinted:
		return RetryTooLong
	}
	return RetryHinted
}

// TooLong is the error of a reply that was cut twice.
func TooLong(slot string, limit int) *Error {
	return &Error{
		Code:    CodeProvider,
		Message: "slot " + slot + ": the reply was cut at its output limit of " + itoa(limit) + " tokens twice; raise maxOutputTokens, or ask for less",
	}
}
