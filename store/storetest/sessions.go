package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testSessions(t *testing.T, st store.Store) {
	blocked := after(7)
	full := session.Session{
		ID: newID("s"), WorldID: "lanternfall", Status: session.StatusPaused, Phase: session.PhaseSetup, Locale: "zh-CN",
		TurnCount: 3, CompletedPlayerTurns: 2, PreGameCompleted: true,
		SetupRuntimes: map[string]session.SetupEntry{"guide": {State: session.SetupBlocked, PluginVersion: "1.0.0", Attempts: 2, BlockedAt: &blocked}},
		ActivePlugins: []string{"story", "dice"},
		Seats:         []session.Seat{{ID: "one", Primary: true, CharacterIDs: []string{"a"}}},
		Metadata:      json.RawMessage(`{"z": 1,  "a":[ ]}`), RuntimeModelOverrides: map[string]string{"narrator": "fast"},
		Fence: "x0", Tenant: "studio", CreatedAt: noon, UpdatedAt: after(5),
	}
	t.Run("a session comes back whole", func(t *testing.T) {
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.InsertSession(ctx, full) })
		want := full
		want.NextMessageSeq = 1
		wantEqual(t, read[session.Session](t)(st.Session(t.Context(), full.ID)), want)
	})
	t.Run("status is active when none is given", func(t *testing.T) {
		id := newID("s")
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.InsertSession(ctx, session.Session{ID: id, WorldID: "w", Phase: session.PhaseSetup})
		})
		s := read[session.Session](t)(st.Session(t.Context(), id))
		if s.Status != session.StatusActive || s.CreatedAt.IsZero() || !s.UpdatedAt.Equal(s.CreatedAt) {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("a used id is refused", func(t *testing.T) {
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertSession(ctx, full) }, full.ID)
	})
	t.Run("update leaves fence and message sequence", func(t *testing.T) {
		appendRows(t, st, full.ID, "t1", 1, 2)
		changed := full
		changed.Fence, changed.NextMessageSeq = "other", 77
		changed.TurnCount, changed.Phase, changed.Metadata = 4, session.PhasePlaying, nil
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.UpdateSession(ctx, changed) })
		changed.Fence, changed.NextMessageSeq = "x0", 3
		wantEqual(t, read[session.Session](t)(st.Session(t.Context(), full.ID)), changed)
	})
	t.Run("an unknown session", func(t *testing.T) {
		missing := full
		missing.ID = newID("s")
		_, err := st.Session(t.Context(), missing.ID)
		wantCode(t, err, store.CodeNotFound, missing.ID)
		for name, fn := range map[string]func(ctx context.Context, tx store.Tx) error{
			"update": func(ctx context.Context, tx store.Tx) error { return tx.UpdateSession(ctx, missing) },
			"fence":  func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, missing.ID, "x") },
			"lock":   func(ctx context.Context, tx store.Tx) error { return tx.LockSession(ctx, missing.ID) },
			"check":  func(ctx context.Context, tx store.Tx) error { return tx.CheckFence(ctx, missing.ID, "x") },
		} {
			t.Run(name, func(t *testing.T) { refused(t, st, store.CodeNotFound, fn, missing.ID) })
		}
	})
	t.Run("every write needs its session", func(t *testing.T) { testWritesNeedSession(t, st) })
	t.Run("a fault of the record is named", func(t *testing.T) {
		bad := full
		bad.ID, bad.Status = newID("s"), "sleeping"
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error { return tx.InsertSession(ctx, bad) }, "sleeping")
	})
	t.Run("newest first", func(t *testing.T) {
		a, b := newID("s"), newID("s")
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for i, id := range []string{a, b} {
				s := session.Session{ID: id, WorldID: "w", Phase: session.PhasePlaying, CreatedAt: noon.AddDate(1000, 0, i)}
				if err := tx.InsertSession(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
		list := read[[]session.Session](t)(st.Sessions(t.Context(), 2))
		if len(list) != 2 || list[0].ID != b || list[1].ID != a {
			t.Errorf("got %v", list)
		}
		if list := read[[]session.Session](t)(st.Sessions(t.Context(), 0)); len(list) != 0 {
			t.Errorf("limit 0 gave %d rows", len(list))
		}
		_, err := st.Sessions(t.Context(), -1)
		wantCode(t, err, store.CodeInvalidValue, "-1")
	})
	t.Run("the fence", func(t *testing.T) {
		id := newSession(t, st)
		check := func(execution string) func(context.Context, store.Tx) error {
			return func(ctx context.Context, tx store.Tx) error {
				if err := tx.LockSession(ctx, id); err != nil {
					return err
				}
				return tx.CheckFence(ctx, id, execution)
			}
		}
		refused(t, st, store.CodeSessionLost, check(""), id)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, id, "x1") })
		write(t, st, check("x1"))
		refused(t, st, store.CodeSessionLost, check("x0"), id, "x0", "x1")
	})
}

// testWritesNeedSession tries every write with a session that is not there.
func testWritesNeedSession(t *testing.T, st store.Store) {
	const id = "nowhere"
	key := store.StreamKey{SessionID: id, TurnID: "t", RuntimeID: "r"}
	for name, fn := range map[string]func(ctx context.Context, tx store.Tx) error{
		"AppendMessages": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: "m"}})
			return err
		},
		"AppendMessages none": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, nil)
			return err
		},
		"MarkMessages":   func(ctx context.Context, tx store.Tx) error { return tx.MarkMessages(ctx, id, []string{"m"}, "y") },
		"RemarkMessages": func(ctx context.Context, tx store.Tx) error { return tx.RemarkMessages(ctx, id, []string{"x"}, "y") },
		"InsertSummary": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertSummary(ctx, session.Summary{ID: "y", SessionID: id})
		},
		"UpdateSummary": func(ctx context.Context, tx store.Tx) error {
			return tx.UpdateSummary(ctx, session.Summary{ID: "y", SessionID: id})
		},
		"DeleteSummaries": func(ctx context.Context, tx store.Tx) error { return tx.DeleteSummaries(ctx, id, []string{"y"}) },
		"DeleteAll":       func(ctx context.Context, tx store.Tx) error { return tx.DeleteAllSummaries(ctx, id) },
		"PutCompactionState": func(ctx context.Context, tx store.Tx) error {
			return tx.PutCompactionState(ctx, store.CompactionState{SessionID: id})
		},
		"InsertCompactionRun": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertCompactionRun(ctx, store.CompactionRun{SessionID: id, ExecutionID: "x"})
		},
		"PutTurnRecord": func(ctx context.Context, tx store.Tx) error {
			return tx.PutTurnRecord(ctx, store.TurnRecord{ID: "r", SessionID: id, TurnID: "t", CommitStatus: "pending"})
		},
		"InsertTurnCommit": func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.InsertTurnCommit(ctx, store.TurnCommit{SessionID: id, TurnID: "t", ExecutionID: "x"})
			return err
		},
		"PutJournal": func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.PutJournal(ctx, store.JournalEntry{SessionID: id, ExecutionID: "x", Kind: "plan"})
			return err
		},
		"RequestAbort": func(ctx context.Context, tx store.Tx) error { return tx.RequestAbort(ctx, id, "x") },
		"AppendTranscript": func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.AppendTranscript(ctx, store.TranscriptEntry{RunID: newID("run"), SessionID: id})
			return err
		},
		"PutPluginData": func(ctx context.Context, tx store.Tx) error {
			return tx.PutPluginData(ctx, session.PluginDatum{SessionID: id, PluginID: "p", Namespace: "n", Key: "k", Value: object("1")})
		},
		"DeletePluginData": func(ctx context.Context, tx store.Tx) error { return tx.DeletePluginData(ctx, id, "p", "n", "k") },
		"PutCharacters": func(ctx context.Context, tx store.Tx) error {
			return tx.PutCharacters(ctx, session.Character{SessionID: id, ID: "c"})
		},
		"PutLore": func(ctx context.Context, tx store.Tx) error {
			return tx.PutLore(ctx, session.LoreEntry{SessionID: id, ID: "l", Owner: session.LoreOwner{Kind: session.LoreOwnerWorld}})
		},
		"InsertPlayerInput": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertPlayerInput(ctx, session.PlayerInput{ID: newID("i"), SessionID: id})
		},
		"SaveSuspension": func(ctx context.Context, tx store.Tx) error {
			return tx.SaveSuspension(ctx, session.Suspension{ID: newID("c"), SessionID: id})
		},
		"InsertExport": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertExport(ctx, store.Export{ID: newID("e"), SessionID: id, ExportKey: "k"})
		},
		"InsertOutbox": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertOutbox(ctx, store.OutboxEntry{SessionID: id, ExecutionID: "x", Kind: "job"})
		},
		"MarkOutboxSent": func(ctx context.Context, tx store.Tx) error { return tx.MarkOutboxSent(ctx, id, "x", 0, noon) },
		"InsertTrace": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.InsertTrace(ctx, store.TraceEvent{ID: newID("e"), SessionID: id, TraceID: "tr"})
			return err
		},
		"AppendChunk": func(ctx context.Context, tx store.Tx) error {
			return tx.AppendChunk(ctx, store.StreamChunk{StreamKey: key, Kind: "text"})
		},
		"PutMedia": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.PutMedia(ctx, store.MediaRef{SessionID: id, PluginID: "p"}, "image/png", []byte("x"))
			return err
		},
		"RemoveMediaRef": func(ctx context.Context, tx store.Tx) error { return tx.RemoveMediaRef(ctx, id, "x", "p") },
		"InsertEvent": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertEvent(ctx, store.Event{ID: newID("e"), SessionID: id})
		},
		"InsertRuntimeOutput": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertRuntimeOutput(ctx, store.RuntimeOutput{ID: newID("o"), SessionID: id})
		},
		"InsertMirrorMessage": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertMirrorMessage(ctx, store.MirrorMessage{ID: newID("m"), SessionID: id})
		},
		"InsertInteraction": func(ctx context.Context, tx store.Tx) error {
			return tx.InsertInteraction(ctx, store.Interaction{ID: newID("i"), SessionID: id})
		},
		"TakeSnapshot": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.TakeSnapshot(ctx, id, newID("sn"), store.SnapshotManual, noon)
			return err
		},
		"RestoreSnapshot": func(ctx context.Context, tx store.Tx) error { return tx.RestoreSnapshot(ctx, id, "sn") },
	} {
		t.Run(name, func(t *testing.T) { refused(t, st, store.CodeNotFound, fn, id) })
	}
	t.Run("C2-121", func(t *testing.T) {
		refused(t, st, store.CodeNotFound, func(ctx context.Context, tx store.Tx) error {
			return tx.CompareAndSetPluginData(ctx, id, "p", []store.CompareAndSet{{Namespace: "n", Key: "k", Value: object(`{"version":1}`)}})
		}, id)
		_, err := st.PluginDatum(t.Context(), id, "p", "n", "k")
		wantCode(t, err, store.CodeNotFound)
	})
}

func testValues(t *testing.T, st store.Store) {
	id := newSession(t, st)
	t.Run("C2-101", func(t *testing.T) {
		for name, text := range map[string]string{"U+0000": "a\x00b", "invalid UTF-8": "a\xffb", "lone surrogate": "\xed\xa0\x80"} {
			t.Run(name, func(t *testing.T) {
				refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
					_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), Content: text}})
					return err
				}, "turn_messages", "content")
			})
		}
		if rows := read[[]session.Message](t)(st.Messages(t.Context(), id)); len(rows) != 0 {
			t.Errorf("%d rows were written", len(rows))
		}
	})
	t.Run("invalid JSON is refused", func(t *testing.T) {
		for _, bad := range []string{"{", "nul", "\"a\x00\"", "\"\xff\"", "1 2", `{"a":1,}`} {
			refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
				_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), UI: json.RawMessage(bad)}})
				return err
			}, "turn_messages", "ui")
		}
	})
	t.Run("ids", func(t *testing.T) {
		for name, bad := range map[string]string{"empty": "", "NUL": "a\x00", "too long": longText(513)} {
			t.Run(name, func(t *testing.T) {
				refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
					_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: bad}})
					return err
				}, "column id")
			})
		}
		_, err := st.Session(t.Context(), "a\x00")
		wantCode(t, err, store.CodeInvalidValue)
		// The longest keys of the widest index still fit.
		long := longText(512)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.PutPluginData(ctx, session.PluginDatum{SessionID: id, PluginID: long, Namespace: long, Key: long, Value: object("{}")})
		})
	})
	t.Run("JSON keeps its bytes", func(t *testing.T) {
		for _, text := range []string{
			`{"b": 1,  "a" : [1.0, 1e3, 12345678901234567890],"b":2}`, " [1]\n", `"<&>\u0000\ud800"`, `null`, `0.10`, `"雾"`,
		} {
			row := session.Message{ID: newID("m"), UI: json.RawMessage(text), Metadata: json.RawMessage(text)}
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				_, err := tx.AppendMessages(ctx, id, []session.Message{row})
				return err
			})
			tail := read[[]session.Message](t)(st.MessageTail(t.Context(), id, 1))
			if got := string(tail[0].UI); got != text || string(tail[0].Metadata) != text {
				t.Errorf("wrote %q, read %q", text, got)
			}
			if tail[0].PendingInput != nil {
				t.Errorf("no JSON came back as %q", tail[0].PendingInput)
			}
		}
	})
	t.Run("texts keep every rune", func(t *testing.T) {
		text := "a\r\n\t\u2028雾\U0001F40D\ufeff\u0001\u007f'\"\\%_"
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), Content: text}})
			return err
		})
		if got := read[[]session.Message](t)(st.MessageTail(t.Context(), id, 1))[0].Content; got != text {
			t.Errorf("got %q", got)
		}
	})
	t.Run("times are UTC with milliseconds, truncated", func(t *testing.T) {
		zone := time.FixedZone("east", 8*3600)
		for _, at := range []time.Time{
			time.Date(2031, 1, 1, 0, 0, 0, 1_999_999, zone), time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		} {
			var stored []session.Message
			write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
				stored, err = tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), CreatedAt: at}})
				return err
			})
			got := read[[]session.Message](t)(st.MessageTail(t.Context(), id, 1))[0].CreatedAt
			if want := at.UTC().Truncate(time.Millisecond); !got.Equal(want) || got.Location() != time.UTC || !stored[0].CreatedAt.Equal(want) {
				t.Errorf("wrote %v, read %v, answered %v", at, got, stored[0].CreatedAt)
			}
		}
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), CreatedAt: noon.AddDate(9000, 0, 0)}})
			return err
		}, "created_at")
	})
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i*i%26)
	}
	return string(b)
}
