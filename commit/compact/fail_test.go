package compact_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/covel-engine/covel/commit/compact"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/trace"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	down := &compaction.Error{Reason: compaction.ModelError, Step: compaction.StepFresh, Detail: "service down"}
	t.Run("C2-082", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.failsWith(down)
		for i := 1; i <= 6; i++ {
			r := b.run(t)
			wantOutcome(t, r, compact.Failed, compaction.ModelError)
			if (r.Notice != nil) != (i%3 == 0) {
				t.Errorf("attempt %d: notice is %+v", i, r.Notice)
			}
			if r.Notice != nil && (r.Notice.Code != compact.NoticeFailing || r.Notice.Count != i || r.Notice.Message == "") {
				t.Errorf("notice is %+v", r.Notice)
			}
			b.next(t)
		}
		events := b.events(t, trace.CompactionFailed)
		for i, e := range events {
			if payload(t, e)["failures"] != float64(i+1) {
				t.Errorf("event %d is %s", i, e.Payload)
			}
		}
		if len(events) != 6 || len(b.events(t, trace.SessionNotice)) != 2 {
			t.Errorf("%d failures and %d notices are traced", len(events), len(b.events(t, trace.SessionNotice)))
		}
	}))
	t.Run("C2-083", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		var last compact.Result
		for _, err := range []error{down, down, nil, down} {
			b.failsWith(err)
			last = b.run(t)
			b.next(t)
		}
		if last.Failures != 3 || last.Notice == nil {
			t.Errorf("the last attempt is %+v", last)
		}
	}))
	t.Run("C2-084", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.failsWith(down)
		b.run(t)
		b.next(t)
		b.run(t)
		b.next(t)
		b.picks(fresh("one", "a"))
		b.run(t)
		if n := b.failures(t); n != 0 {
			t.Errorf("the counter is %d", n)
		}
	}))
	t.Run("C2-085", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.failsWith(&compaction.Error{Reason: compaction.OldestRowTooLarge, Step: compaction.StepPlan, Detail: "too large", RowID: "a", Needed: 25_000, Available: 1_000})
		for i := range 3 {
			r := b.run(t)
			wantOutcome(t, r, compact.Blocked, compaction.OldestRowTooLarge)
			if (r.Notice != nil) != (i == 0) {
				t.Errorf("attempt %d: notice is %+v", i, r.Notice)
			}
			b.next(t)
		}
		events := b.events(t, trace.CompactionFailed)
		if len(events) != 1 || payload(t, events[0])["rowId"] != "a" || len(b.events(t, trace.SessionNotice)) != 1 || b.failures(t) != 0 {
			t.Errorf("%d failures are traced, the counter is %d", len(events), b.failures(t))
		}
	}))
	t.Run("C2-086", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.provide = func(compaction.Input) (*compaction.Output, error) { panic("boom") }
		wantOutcome(t, b.run(t), compact.Failed, compaction.ProviderError)
		b.next(t)
		b.failsWith(&compaction.Error{Reason: "bad_mood", Detail: "no"})
		wantOutcome(t, b.run(t), compact.Failed, compaction.ProviderError)
		b.next(t)
		b.failsWith(errors.New("plain"))
		wantOutcome(t, b.run(t), compact.Failed, compaction.ProviderError)
		if b.failures(t) != 3 || b.marks(t) != "a= b= c=" {
			t.Errorf("the counter is %d", b.failures(t))
		}
	}))
	t.Run("C2-069", onSQLite(func(b *bundle) {
		t := b.t
		b.window(100, 100)
		b.abc(t)
		b.picks(fresh("c", "b"))
		wantOutcome(t, b.run(t), compact.Failed, compaction.InvalidResult)
		if len(b.summaries(t)) != 0 || b.marks(t) != "a= b= c=" || b.failures(t) != 1 {
			t.Error("something changed")
		}
	}))
	t.Run("timeout", onSQLite(func(b *bundle) {
		t := b.t
		b.config.Settings = &compaction.Settings{Timeout: time.Millisecond}
		b.abc(t)
		b.config.Provider = func(ctx context.Context, _ compaction.Input, _ compaction.Services) (*compaction.Output, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		wantOutcome(t, b.run(t), compact.Failed, compaction.Timeout)
	}))
	t.Run("cancelled", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.config.Provider = func(context.Context, compaction.Input, compaction.Services) (*compaction.Output, error) {
			cancel()
			return nil, errors.New("cut")
		}
		runner, err := compact.NewRunner(b.config)
		must(t, err)
		b.request.History, err = b.store.AllRawMessages(ctx, "s")
		must(t, err)
		if _, err := runner.Attempt(ctx, b.request); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled attempt gives %v", err)
		}
		if b.failures(t) != 0 || len(b.events(t, trace.CompactionFailed)) != 0 {
			t.Error("a cancelled attempt is recorded")
		}
	}))
	t.Run("C2-024", onSQLite(func(b *bundle) {
		t := b.t
		for _, reason := range []compaction.Reason{compaction.HookAborted, compaction.HookFailed} {
			runner, err := compact.NewRunner(b.config)
			must(t, err)
			r, err := runner.SkipByHook(t.Context(), b.request, reason)
			must(t, err)
			wantOutcome(t, r, compact.HookSkipped, reason)
			b.next(t)
		}
		events := b.events(t, trace.CompactionSkipped)
		if len(events) != 2 || payload(t, events[1])["reason"] != "hook_failed" || b.failures(t) != 0 {
			t.Errorf("%d skipped events", len(events))
		}
	}))
}

func TestTrace(t *testing.T) {
	t.Parallel()
	t.Run("C2-087", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.request.TraceID, b.request.TurnID = "flow-7", "t-9"
		b.picks(fresh("one", "a", "b", "c"))
		r := b.run(t)
		events := b.events(t, trace.ContextCompacted)
		if len(events) != 1 || events[0].TraceID != "flow-7" || events[0].TurnID != "t-9" {
			t.Fatalf("events are %+v", events)
		}
		p := payload(t, events[0])
		if p["turnRangeEnd"] != "t-c" || p["summaryId"] != r.SummaryID || p["tokenSavings"] != 300.0 || p["messagesCompacted"] != 3.0 || p["summaryTokens"] != 1.0 {
			t.Errorf("payload is %v", p)
		}
	}))
	t.Run("C2-088", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.request.TraceID = ""
		b.picks(fresh("one", "a", "b", "c"))
		r := b.run(t)
		events := b.events(t, trace.ContextCompacted)
		if len(events) != 1 || events[0].TraceID != r.SummaryID || events[0].TurnID != "t-c" {
			t.Errorf("events are %+v", events)
		}
	}))
	t.Run("C2-089", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.picks(fresh("one", "a"))
		b.config.Store = failingStore{b.store, "trace"}
		warned := 0
		b.config.Warn = func(string, error) { warned++ }
		wantOutcome(t, b.run(t), compact.Compacted, "")
		if warned == 0 || len(b.summaries(t)) != 1 {
			t.Errorf("%d warnings, %d summaries", warned, len(b.summaries(t)))
		}
	}))
	t.Run("C2-049 truncated", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		s := fresh("one", "a")
		s.Truncated, s.FocusSections = true, []string{"x"}
		b.save(t, 5)
		b.picks(s)
		b.run(t)
		p := payload(t, b.events(t, trace.ContextCompacted)[0])
		if p["summaryTruncated"] != true || p["totalSummaryTokens"] != 6.0 || fmt.Sprint(p["focusSections"]) != "[x]" {
			t.Errorf("payload is %v", p)
		}
		if e := b.events(t, trace.ServiceCompleted); len(e) != 1 || payload(t, e[0])["outcome"] != "success" {
			t.Errorf("the provider's call is traced %d times", len(e))
		}
	}))
}
