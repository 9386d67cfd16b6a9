package agentloop

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/turn"
)

// CallOptions are what a manifest or a caller says about one model call; zero
// and nil mean the chapter's defaults.
type CallOptions struct {
	// RuntimeMs is the runtime's time limit.
	RuntimeMs           int64
	MaxRetries          *int
	CallTimeoutMs       int64
	FirstTokenTimeoutMs int64
	IdleTimeoutMs       int64
}

// CallLimits are the limits of one model call (spec 03 §11.1), in
// milliseconds. CallTimeoutMs is for calls that are not streamed.
type CallLimits struct {
	Retries             int
	CallTimeoutMs       int64
	FirstTokenTimeoutMs int64
	IdleTimeoutMs       int64
}

// LimitsOfCall applies defaults and minimums; they apply silently.
func LimitsOfCall(o CallOptions) CallLimits {
	l := CallLimits{Retries: 1, FirstTokenTimeoutMs: 120_000, IdleTimeoutMs: 120_000}
	if o.MaxRetries != nil {
		l.Retries = min(max(*o.MaxRetries, 0), 5)
	}
	if o.FirstTokenTimeoutMs != 0 {
		l.FirstTokenTimeoutMs = max(1000, o.FirstTokenTimeoutMs)
	}
	if o.IdleTimeoutMs != 0 {
		l.IdleTimeoutMs = max(1000, o.IdleTimeoutMs)
	}
	runtime := o.RuntimeMs
	if runtime <= 0 {
		runtime = DefaultTimeoutMs
	}
	l.CallTimeoutMs = max(5000, min(60_000, runtime/int64(l.Retries+1)))
	if o.CallTimeoutMs != 0 {
		l.CallTimeoutMs = max(1, o.CallTimeoutMs)
	}
	return l
}

// AttemptMs bounds one attempt: at least a second while time is left, 0 once
// the deadline has passed, which means that no request is sent.
func (l CallLimits) AttemptMs(timeLeftMs int64) int64 {
	if timeLeftMs <= 0 {
		return 0
	}
	return max(1000, min(l.CallTimeoutMs, timeLeftMs))
}

// Reasons of a retry (spec 03 §11.8).
const (
	RetryFirstToken = "first-token-timeout"
	RetryIdle       = "idle-timeout"
	RetryCall       = "call-timeout"
	RetryTransient  = "transient-error"
	RetryUnknown    = "unknown"
)

// Attempt is one attempt that failed.
type Attempt struct {
	// Number counts attempts on this target from 0.
	Number     int
	Code       string
	StatusCode int
	Retriable  bool
	// Timeout is RetryFirstToken, RetryIdle or RetryCall for an attempt that
	// one of these limits ended.
	Timeout  string
	Story    bool
	Streamed bool
	// HasOutput says that the stream had given text or reasoning.
	HasOutput bool
	// BadArguments says that the provider refused malformed tool arguments of
	// the transcript (spec 04 §6.8); Repaired that they were repaired already.
	BadArguments bool
	Repaired     bool
	// Plain says that the call was already tried once without a stream.
	Plain bool
}

// Next is what follows a failed attempt.
type Next struct {
	// Retry sends the request again, with the hint of attempt Number+1.
	Retry  bool
	Reason string
	// Plain tries once more, not streamed; Repair once more with the malformed
	// arguments wrapped as {"_raw": text}. Neither uses a retry.
	Plain  bool
	Repair bool
}

// AfterFailure decides what follows a failed attempt on the same target (spec
// 03 §11.8, spec 04 §7.3). The zero Next ends the call.
func (l CallLimits) AfterFailure(a Attempt) Next {
	switch {
	case a.Code == turn.CodeTurnAborted:
		return Next{}
	case a.BadArguments && !a.Repaired:
		return Next{Repair: true}
	case a.Story && a.Streamed && a.HasOutput: // the player has seen it
		return Next{}
	}
	if reason := a.reason(); reason != "" && a.Number < l.Retries {
		return Next{Retry: true, Reason: reason}
	}
	if a.Streamed && !a.HasOutput && !a.Plain && a.mayGoPlain() {
		return Next{Plain: true}
	}
	return Next{}
}

// reason names why a failure may be retried, "" when it may not.
func (a Attempt) reason() string {
	switch a.Code {
	case model.CodeConfig, model.CodeSchema, model.CodeRefusal, model.CodeBudgetExceeded:
		return ""
	}
	switch {
	case a.Timeout != "":
		return a.Timeout
	case !a.Retriable:
		return ""
	case a.StatusCode != 0 || a.Code != "":
		return RetryTransient
	}
	return RetryUnknown
}

func (a Attempt) mayGoPlain() bool {
	switch a.Code {
	case model.CodeConfig, model.CodeSchema, model.CodeRefusal, model.CodeBudgetExceeded:
		return false
	}
	return a.StatusCode != 400 && a.StatusCode != 401
}

// RetryHint is the system message of retry n: the mark, the text, and n spaces,
// so that no two attempts of a call are the same request.
func RetryHint(n int, text string) string {
	mark := "[retry " + strconv.Itoa(n) + "] "
	text = strings.TrimPrefix(strings.TrimRight(text, " "), mark)
	return mark + text + strings.Repeat(" ", n)
}

// RawArguments wraps malformed tool arguments for the one repaired request.
func RawArguments(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	return `{"_raw":` + strings.TrimSuffix(b.String(), "\n") + `}`
}
