package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// A file that may not grow stands for a full disk: the transaction is undone
// whole even when its function goes on, and the store works once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	addSession(t, s, "s")
	var pages int
	if err := s.pool.db.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		if err := s.writer.control(fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(ctx context.Context, tx store.Tx) error {
		if err := tx.SetFence(ctx, "s", "x"); err != nil {
			return err
		}
		_, err := tx.AppendMessages(ctx, "s", []session.Message{{ID: "m", Content: strings.Repeat("fog ", 50_000)}})
		return err
	}
	limit(pages + 2)
	wantFull := func(err error) {
		t.Helper()
		wantCode(t, err, store.CodeStoreFailed)
		var driver *sqlite.Error
		if !errors.As(err, &driver) || driver.Code() != sqlite3.SQLITE_FULL {
			t.Errorf("the driver's error is gone: %v", err)
		}
	}
	wantFull(s.WithTx(t.Context(), fill))
	wantFull(s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		wantFull(fill(ctx, tx))
		wantFull(tx.SetFence(ctx, "s", "y")) // no statement runs outside the transaction
		return nil
	}))
	got, err := s.Session(t.Context(), "s")
	if err != nil || got.Fence != "" {
		t.Errorf("fence %q, %v", got.Fence, err)
	}
	limit(pages + 10_000)
	if err := s.WithTx(t.Context(), fill); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
