package storetest

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/store"
)

func testAccess(t *testing.T, st store.Store) {
	t.Run("a token comes back by its hash", func(t *testing.T) {
		full := access.Token{
			ID: newID("t"), Name: "game", Hash: newID("h"), Tenant: "studio", Worlds: []string{"a", "b"}, Sessions: []string{"s"},
			CreatedAt: after(1), ExpiresAt: after(9),
		}
		plain := access.Token{ID: newID("t"), Name: "ops", Hash: newID("h"), CreatedAt: noon}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.InsertToken(ctx, full); err != nil {
				return err
			}
			return tx.InsertToken(ctx, plain)
		})
		wantEqual(t, read[access.Token](t)(st.TokenByHash(t.Context(), full.Hash)), full)
		wantEqual(t, read[[]access.Token](t)(st.Tokens(t.Context())), []access.Token{plain, full})

		twice := full
		twice.ID = newID("t")
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertToken(ctx, twice) }, twice.ID)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.DeleteToken(ctx, full.ID) })
		_, err := st.TokenByHash(t.Context(), full.Hash)
		wantCode(t, err, store.CodeNotFound)
		refused(t, st, store.CodeNotFound, func(ctx context.Context, tx store.Tx) error { return tx.DeleteToken(ctx, full.ID) }, full.ID)
	})
	t.Run("the audit lists the newest first", func(t *testing.T) {
		about := newID("s")
		var want []access.Entry
		for i, action := range []access.Action{access.ActionAbort, access.ActionResume, access.ActionDelete} {
			e := access.Entry{ID: newID("a"), At: after(i), Actor: "local", Action: action, Subject: about, Detail: "t1"}
			want = append([]access.Entry{e}, want...)
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.InsertAudit(ctx, e) })
		}
		other := access.Entry{ID: newID("a"), At: after(50), Actor: "local", Action: access.ActionTokenCreate, Subject: newID("t")}
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.InsertAudit(ctx, other) })
		wantEqual(t, read[[]access.Entry](t)(st.Audit(t.Context(), about, 10)), want)
		wantEqual(t, read[[]access.Entry](t)(st.Audit(t.Context(), "", 2)), []access.Entry{other, want[0]})
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertAudit(ctx, other) }, other.ID)
	})
}
