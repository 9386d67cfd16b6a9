package agentloop

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCallLimits(t *testing.T) {
	t.Parallel()
	t.Run("TE-099", func(t *testing.T) {
		t.Parallel()
		for limit, want := range map[int64]int64{60_000: 30_000, 300_000: 60_000, 8_000: 5_000} {
			if got := LimitsOfCall(CallOptions{RuntimeMs: limit}).CallTimeoutMs; got != want {
				t.Errorf("limit %d gives %d, want %d", limit, got, want)
			}
		}
		if got := LimitsOfCall(CallOptions{CallTimeoutMs: -5}).CallTimeoutMs; got != 1 {
			t.Errorf("an explicit timeout below 1 gives %d", got)
		}
	})
	t.Run("TE-100", func(t *testing.T) {
		t.Parallel()
		if got := LimitsOfCall(CallOptions{MaxRetries: ptr(9)}).Retries; got != 5 {
			t.Errorf("retries %d", got)
		}
		if got := LimitsOfCall(CallOptions{MaxRetries: ptr(-1)}).Retries; got != 0 {
			t.Errorf("retries %d", got)
		}
		l := LimitsOfCall(CallOptions{FirstTokenTimeoutMs: 200})
		if l.FirstTokenTimeoutMs != 1000 || l.IdleTimeoutMs != 120_000 || l.Retries != 1 {
			t.Errorf("limits %+v", l)
		}
	})
	t.Run("TE-103", func(t *testing.T) {
		t.Parallel()
		l := LimitsOfCall(CallOptions{})
		for left, want := range map[int64]int64{0: 0, -5: 0, 1: 1000, 7_000: 7_000, 90_000: 30_000} {
			if got := l.AttemptMs(left); got != want {
				t.Errorf("%d ms left give %d, want %d", left, got, want)
			}
		}
	})
}

func TestAfterFailure(t *testing.T) {
	t.Parallel()
	l := LimitsOfCall(CallOptions{})
	for name, c := range map[string]struct {
		a    Attempt
		want Next
	}{
		"TE-101":                       {Attempt{Code: "PROVIDER_ERROR", StatusCode: 503, Retriable: true}, Next{Retry: true, Reason: "transient-error"}},
		"TE-102 configuration":         {Attempt{Code: "CONFIG_ERROR", Retriable: true, Streamed: true}, Next{}},
		"TE-102 bad request":           {Attempt{Code: "PROVIDER_ERROR", StatusCode: 400, Streamed: true}, Next{}},
		"a second failure":             {Attempt{Number: 1, Code: "PROVIDER_ERROR", Retriable: true}, Next{}},
		"a refusal":                    {Attempt{Code: "REFUSAL", Retriable: true}, Next{}},
		"a used-up budget":             {Attempt{Code: "REQUEST_BUDGET_EXCEEDED", Timeout: RetryCall}, Next{}},
		"an abort":                     {Attempt{Code: "TURN_ABORTED", Retriable: true, Streamed: true}, Next{}},
		"an idle stream":               {Attempt{Timeout: RetryIdle, Streamed: true, HasOutput: true}, Next{Retry: true, Reason: "idle-timeout"}},
		"TE-144 a story that was seen": {Attempt{Timeout: RetryIdle, Streamed: true, HasOutput: true, Story: true, Retriable: true}, Next{}},
		"a stream without output":      {Attempt{Number: 1, Code: "PROVIDER_ERROR", StatusCode: 500, Retriable: true, Streamed: true}, Next{Plain: true}},
		"the plain call failed too":    {Attempt{Number: 1, Code: "PROVIDER_ERROR", StatusCode: 500, Retriable: true, Streamed: true, Plain: true}, Next{}},
		"a stream that was forbidden":  {Attempt{Code: "PROVIDER_ERROR", StatusCode: 403, Streamed: true}, Next{Plain: true}},
		"malformed arguments":          {Attempt{Code: "PROVIDER_ERROR", StatusCode: 400, BadArguments: true}, Next{Repair: true}},
		"malformed once more":          {Attempt{Code: "PROVIDER_ERROR", StatusCode: 400, BadArguments: true, Repaired: true}, Next{}},
		"an error without code":        {Attempt{Retriable: true}, Next{Retry: true, Reason: "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := l.AfterFailure(c.a); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestRetryHint(t *testing.T) {
	t.Parallel()
	t.Run("TE-101", func(t *testing.T) {
		t.Parallel()
		if got := RetryHint(1, "Answer again."); got != "[retry 1] Answer again. " {
			t.Errorf("hint %q", got)
		}
		if got := RetryHint(3, "[retry 3] Answer again."); got != "[retry 3] Answer again.   " {
			t.Errorf("hint %q", got)
		}
	})
	raw := RawArguments("{\"a\": <x>\n")
	var back struct {
		Raw string `json:"_raw"`
	}
	if json.Unmarshal([]byte(raw), &back) != nil || back.Raw != "{\"a\": <x>\n" || strings.Contains(raw, `\u003c`) {
		t.Errorf("raw arguments %s", raw)
	}
}
