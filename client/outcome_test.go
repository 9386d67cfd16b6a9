package client

import (
	"encoding/json"
	"testing"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	const (
		told      = `{"runtimeId":"teller","stage":"narrative","status":"success","story":true,"output":{"narrativeOutput":"It rains."},"toolCalls":[],"steps":1,"usage":{"input":10,"output":2,"cached":4,"cacheWrite":0},"costUSD":0.25}`
		more      = `{"runtimeId":"echo","stage":"narrative","status":"success","story":true,"output":{"narrativeOutput":"It stops."},"toolCalls":[{"id":"c","name":"note","ok":true}],"steps":2,"usage":{"input":5,"output":1,"cached":0,"cacheWrite":0},"costUSD":0.5}`
		broken    = `{"runtimeId":"late","stage":"narrative","status":"failed","story":true,"output":{"narrativeOutput":"half"},"toolCalls":[],"error":{"kind":"budget","code":"timeout","message":"late"}}`
		keeper    = `{"runtimeId":"keeper","stage":"post-turn","status":"success","output":{"narrativeOutput":"no story"},"toolCalls":[]}`
		suspended = `{"runtimeId":"asker","stage":"post-turn","status":"suspended","output":{"suspended":true,"suspensionId":"s-1","reason":"a choice"},"toolCalls":[]}`
	)
	failed := func(code string) json.RawMessage {
		return json.RawMessage(`{"kind":"internal","code":"` + code + `","message":"no"}`)
	}
	for name, c := range map[string]struct {
		record    store.TurnRecord
		status    turn.Status
		narrative string
		reason    string
		code      string
	}{
		"pending":          {record: store.TurnRecord{CommitStatus: "pending"}, status: turn.StatusRunning},
		"committed":        {record: store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(told, keeper)}, status: turn.StatusCommitted, narrative: "It rains."},
		"two stories":      {record: store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(told, more)}, status: turn.StatusCommitted, narrative: "It rains.\n\nIt stops."},
		"a story too late": {record: store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(broken, keeper)}, status: turn.StatusCommitted},
		"suspended":        {record: store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(told, suspended)}, status: turn.StatusSuspended, narrative: "It rains."},
		"rolled back":      {record: store.TurnRecord{CommitStatus: "failed", Error: failed("turn_commit_failed")}, status: turn.StatusFailed, code: "turn_commit_failed"},
		"aborted":          {record: store.TurnRecord{CommitStatus: "failed", Error: failed(turn.CodeTurnAborted)}, status: turn.StatusAborted, reason: "player-abort", code: turn.CodeTurnAborted},
		"failed unnamed":   {record: store.TurnRecord{CommitStatus: "failed"}, status: turn.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.record.SessionID, c.record.TurnID, c.record.LogicalTurn = "game", "t-1", 3
			got, err := outcomeOf(c.record)
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			if got.Error != nil {
				code = got.Error.Code
			}
			if got.Status != c.status || got.Narrative != c.narrative || got.AbortReason != c.reason || code != c.code || got.LogicalTurn != 3 {
				t.Errorf("outcome %+v", got)
			}
			if got.Runtimes == nil || got.Suspensions == nil {
				t.Error("an empty list is null")
			}
		})
	}
	t.Run("figures are summed", func(t *testing.T) {
		t.Parallel()
		got, err := outcomeOf(store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(told, more)})
		if err != nil {
			t.Fatal(err)
		}
		want := turn.Usage{Input: 15, Output: 3, Cached: 4}
		if diff := cmp.Diff(want, got.Usage); diff != "" || got.CostUSD != 0.75 || got.Runtimes[1].ToolCalls != 1 {
			t.Errorf("%s %g %+v", diff, got.CostUSD, got.Runtimes)
		}
	})
	t.Run("a suspension is named", func(t *testing.T) {
		t.Parallel()
		got, err := outcomeOf(store.TurnRecord{CommitStatus: "committed", RuntimeResults: list(suspended)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]turn.SuspensionRef{{ID: "s-1", RuntimeID: "asker", Reason: "a choice"}}, got.Suspensions); diff != "" {
			t.Error(diff)
		}
	})
	for name, record := range map[string]store.TurnRecord{
		"results that are unreadable": {CommitStatus: "committed", RuntimeResults: json.RawMessage(`{`)},
		"an error that is unreadable": {CommitStatus: "failed", Error: json.RawMessage(`[]`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := outcomeOf(record); turn.CodeOf(err) != "INVALID_VALUE" {
				t.Errorf("error %v", err)
			}
		})
	}
}

func list(results ...string) json.RawMessage {
	b := []byte{'['}
	for i, r := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r...)
	}
	return append(b, ']')
}

func TestFirstRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"灯火通明", 2, "灯火…"},
		{"灯火", 2, "灯火"},
		{"🏮🏮", 1, "🏮…"},
		{"abc", 0, "…"},
	} {
		if got := firstRunes(c.text, c.n); got != c.want {
			t.Errorf("the first %d of %q are %q, want %q", c.n, c.text, got, c.want)
		}
	}
}
