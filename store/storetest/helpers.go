package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// noon is the instant that the suite's rows are made at.
var noon = time.Date(2031, time.March, 4, 12, 0, 0, 0, time.UTC)

// after gives an instant some milliseconds after noon.
func after(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// newID gives an id that no other test uses.
func newID(prefix string) string { return prefix + "-" + uuid.NewString() }

// newSession stores a session and gives its id.
func newSession(t testing.TB, st store.Store) string {
	t.Helper()
	id := newID("s")
	write(t, st, func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: id, WorldID: "lanternfall", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en",
			CreatedAt: noon, UpdatedAt: noon,
		})
	})
	return id
}

// write runs a transaction that must succeed.
func write(t testing.TB, st store.Store, fn func(ctx context.Context, tx store.Tx) error) {
	t.Helper()
	if err := st.WithTx(t.Context(), fn); err != nil {
		t.Fatalf("transaction: %v", err)
	}
}

// refused runs a transaction that must fail with a code; its text must hold
// every given part.
func refused(t testing.TB, st store.Store, code string, fn func(ctx context.Context, tx store.Tx) error, parts ...string) {
	t.Helper()
	wantCode(t, st.WithTx(t.Context(), fn), code, parts...)
}

func wantCode(t testing.TB, err error, code string, parts ...string) {
	t.Helper()
	var typed *store.Error
	if !errors.As(err, &typed) || typed.Code != code {
		t.Fatalf("got error %v, want code %s", err, code)
	}
	if typed.Op == "" {
		t.Errorf("error %v names no operation", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
}

// read gives a value that must be readable.
func read[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		return v
	}
}

func wantEqual(t testing.TB, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// appendRows appends n rows of one turn with ids <session>-row-<from…>.
func appendRows(t testing.TB, st store.Store, id, turn string, from, n int) []session.Message {
	t.Helper()
	var stored []session.Message
	write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
		rows := make([]session.Message, n)
		for i := range rows {
			rows[i] = session.Message{
				ID: rowID(id, from+i), TurnID: turn, SourceType: session.SourceRuntime, SourceRuntimeID: "narrator",
				SourcePluginID: "story", Role: session.RoleAssistant, Content: fmt.Sprintf("line %d", from+i), CreatedAt: noon,
			}
		}
		stored, err = tx.AppendMessages(ctx, id, rows)
		return err
	})
	return stored
}

func rowID(id string, n int) string { return fmt.Sprintf("%s-row-%d", id, n) }

func rowIDs(id string, from, to int) []string {
	var ids []string
	for n := from; n <= to; n++ {
		ids = append(ids, rowID(id, n))
	}
	return ids
}

func idsOf(rows []session.Message) []string {
	var ids []string
	for _, m := range rows {
		ids = append(ids, m.ID)
	}
	return ids
}

func object(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

// codeOf gives an error's code, "" for another kind of error.
func codeOf(err error) string {
	var typed *store.Error
	if errors.As(err, &typed) {
		return typed.Code
	}
	return ""
}
