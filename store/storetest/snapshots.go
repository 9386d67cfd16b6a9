package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testSnapshots(t *testing.T, st store.Store) {
	take := func(t *testing.T, id, kind string, ms int) (snap store.Snapshot) {
		t.Helper()
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			snap, err = tx.TakeSnapshot(ctx, id, newID("sn"), kind, after(ms))
			return err
		})
		return snap
	}
	restore := func(id, snap string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.RestoreSnapshot(ctx, id, snap) }
	}
	t.Run("C2-128", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 2)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.MarkMessages(ctx, id, rowIDs(id, 1, 1), "lost")
		})
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.TakeSnapshot(ctx, id, newID("sn"), store.SnapshotManual, noon)
			return err
		}, rowID(id, 1), "lost")
	})
	t.Run("C2-129", func(t *testing.T) {
		id := newSession(t, st)
		manual := []string{take(t, id, store.SnapshotManual, 0).ID, take(t, id, store.SnapshotManual, 0).ID}
		var autos []string
		for turn := 1; turn <= 25; turn++ {
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				s, err := tx.Session(ctx, id)
				if err != nil {
					return err
				}
				s.CompletedPlayerTurns = turn
				return tx.UpdateSession(ctx, s)
			})
			autos = append(autos, take(t, id, store.SnapshotAuto, turn).ID)
		}
		again := take(t, id, store.SnapshotAuto, 26) // the same turn count: replaced
		autos[24] = again.ID
		var want, got []string
		for i := 24; i >= 5; i-- {
			want = append(want, autos[i])
		}
		want = append(want, manual[1], manual[0])
		for _, s := range read[[]store.Snapshot](t)(st.Snapshots(t.Context(), id)) {
			got = append(got, s.ID)
			if s.Payload != nil {
				t.Error("the list holds payloads")
			}
		}
		wantEqual(t, got, want)
		if again.PlayerTurnCount != 25 || again.Version != store.SnapshotVersion {
			t.Errorf("got %+v", again)
		}
	})
	t.Run("a restore brings everything back", func(t *testing.T) {
		id := Fill(t, st)
		snap := take(t, id, store.SnapshotManual, 1)
		before := viewOf(t, st, id)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return change(ctx, tx, id) })
		write(t, st, restore(id, snap.ID))
		got := viewOf(t, st, id)
		// The present keeps its fence, its counter, its trace and its jobs.
		if got.Session.Fence != "x9" || got.Session.NextMessageSeq <= before.Session.NextMessageSeq {
			t.Errorf("fence %q, next seq %d", got.Session.Fence, got.Session.NextMessageSeq)
		}
		if len(got.Jobs) != 2 || len(got.Trace) != 2 {
			t.Errorf("%d jobs, %d trace events", len(got.Jobs), len(got.Trace))
		}
		got.Session.Fence, got.Session.NextMessageSeq = before.Session.Fence, before.Session.NextMessageSeq
		got.Jobs, got.Trace = before.Jobs, before.Trace
		wantEqual(t, got, before)
		write(t, st, restore(id, snap.ID)) // and again
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			rows, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}})
			if err == nil && rows[0].Seq <= 4 {
				t.Errorf("seq %d was given before", rows[0].Seq)
			}
			return err
		})
	})
	t.Run("a payload names its parts", func(t *testing.T) {
		id := Fill(t, st)
		var members map[string]json.RawMessage
		if err := json.Unmarshal(take(t, id, store.SnapshotManual, 1).Payload, &members); err != nil {
			t.Fatal(err)
		}
		for member, want := range map[string]string{
			"version":                    "3",
			"sessionSummaries":           id + "-y",
			"compactedMessageSummaryIds": fmt.Sprintf(`{"%s":"%s-y","%s":"%s-y"}`, rowID(id, 1), id, rowID(id, 2), id),
		} {
			if !strings.Contains(string(members[member]), want) {
				t.Errorf("%s is %s", member, members[member])
			}
		}
		if strings.Contains(string(members["pluginData"]), store.NamespaceJobs) {
			t.Error("jobs are in the snapshot")
		}
	})
	t.Run("a restore is refused whole", func(t *testing.T) {
		id, other := Fill(t, st), newSession(t, st)
		snap := take(t, id, store.SnapshotManual, 1)
		before := viewOf(t, st, id)
		put := func(change func(*store.Snapshot)) func(context.Context, store.Tx) error {
			s := snap
			s.ID = newID("sn")
			change(&s)
			return func(ctx context.Context, tx store.Tx) error {
				if err := tx.PutSnapshot(ctx, s); err != nil {
					return err
				}
				return tx.RestoreSnapshot(ctx, s.SessionID, s.ID)
			}
		}
		replace := func(old, new string) func(*store.Snapshot) {
			return func(s *store.Snapshot) { s.Payload = json.RawMessage(strings.ReplaceAll(string(s.Payload), old, new)) }
		}
		refused(t, st, store.CodeInvalidValue, put(func(s *store.Snapshot) {
			s.Version = 2
			replace(`"version":3`, `"version":2`)(s)
		}), "2")
		refused(t, st, store.CodeInvalidValue, put(replace(id+`-y","session_id`, `z","session_id`)), rowID(id, 1), id+"-y")
		refused(t, st, store.CodeInvalidValue, put(func(s *store.Snapshot) { s.SessionID = other }))
		refused(t, st, store.CodeForeignID, put(replace(`"session_id":"`+id, `"session_id":"`+other)))
		refused(t, st, store.CodeInvalidValue, put(func(s *store.Snapshot) { s.Payload = object("[1]") }))
		refused(t, st, store.CodeNotFound, restore(other, snap.ID), snap.ID)
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.TakeSnapshot(ctx, id, newID("sn"), "weekly", noon)
			return err
		}, "weekly")
		wantEqual(t, viewOf(t, st, id), before)
	})
	t.Run("delete", func(t *testing.T) {
		id := newSession(t, st)
		snap := take(t, id, store.SnapshotManual, 1)
		remove := func(ctx context.Context, tx store.Tx) error { return tx.DeleteSnapshot(ctx, id, snap.ID) }
		write(t, st, remove)
		refused(t, st, store.CodeNotFound, remove, snap.ID)
		_, err := st.Snapshot(t.Context(), id, snap.ID)
		wantCode(t, err, store.CodeNotFound)
	})
}

// change makes a filled session differ in many tables.
func change(ctx context.Context, tx store.Tx, id string) error {
	s, err := tx.Session(ctx, id)
	if err != nil {
		return err
	}
	s.TurnCount, s.Status, s.Metadata = 9, session.StatusEnded, object(`{"x":1}`)
	for _, step := range []func() error{
		func() error { return tx.UpdateSession(ctx, s) },
		func() error { return tx.SetFence(ctx, id, "x9") },
		func() error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: rowID(id, 4), TurnID: "t3", Content: "later"}})
			return err
		},
		func() error { return tx.RemarkMessages(ctx, id, []string{id + "-y"}, id+"-z") },
		func() error { return tx.DeleteAllSummaries(ctx, id) },
		func() error { return tx.PutPluginData(ctx, datum(id, "n", "k", `{"version":2}`, 9)) },
		func() error { return tx.PutPluginData(ctx, datum(id, "n", "new", `1`, 9)) },
		func() error { return tx.PutPluginData(ctx, datum(id, store.NamespaceJobs, "k", `1`, 9)) },
		func() error { return tx.PutCharacters(ctx, session.Character{SessionID: id, ID: "late", Name: "L"}) },
		func() error { return tx.CancelSuspension(ctx, id+"-c", "game", after(3)) },
		func() error {
			return tx.InsertPlayerInput(ctx, session.PlayerInput{ID: newID("i"), SessionID: id, Values: object("{}")})
		},
		func() error {
			_, err := tx.InsertTrace(ctx, store.TraceEvent{ID: newID("e"), SessionID: id, TraceID: "tr", CreatedAt: after(4)})
			return err
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
