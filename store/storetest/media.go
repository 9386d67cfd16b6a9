package storetest

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/store"
)

func testMedia(t *testing.T, st store.Store) {
	put := func(t *testing.T, id, plugin, mime, bytes string) store.MediaAsset {
		t.Helper()
		var asset store.MediaAsset
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			ref := store.MediaRef{SessionID: id, PluginID: plugin, Meta: object(`{"caption": "%s"}`, id), CreatedAt: noon}
			asset, err = tx.PutMedia(ctx, ref, mime, []byte(bytes))
			return err
		})
		return asset
	}
	remove := func(id, sha, plugin string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.RemoveMediaRef(ctx, id, sha, plugin) }
	}
	readable := func(t *testing.T, id, sha, bytes string) {
		t.Helper()
		asset, got, err := st.Media(t.Context(), id, sha)
		if err != nil || string(got) != bytes || asset.SHA256 != sha || asset.SizeBytes != int64(len(bytes)) {
			t.Errorf("read %+v, %q, %v", asset, got, err)
		}
	}
	gone := func(t *testing.T, id, sha string) {
		t.Helper()
		_, _, err := st.Media(t.Context(), id, sha)
		wantCode(t, err, store.CodeNotFound, sha)
	}
	t.Run("C2-126", func(t *testing.T) {
		a, b := newSession(t, st), newSession(t, st)
		bytes := newID("picture") + "\x00\xff"
		first := put(t, a, "p", "image/png", bytes)
		second := put(t, b, "p", "image/jpeg", bytes)
		wantEqual(t, first, store.MediaAsset{SHA256: hashOf(bytes), Mime: "image/png", SizeBytes: int64(len(bytes)), CreatedAt: noon})
		wantEqual(t, second, first)
		put(t, a, "q", "image/png", bytes)
		put(t, a, "q", "image/png", bytes) // the same reference again
		readable(t, a, first.SHA256, bytes)
		readable(t, b, first.SHA256, bytes)
		// Three references: the asset goes with the last.
		write(t, st, remove(a, first.SHA256, "p"))
		readable(t, a, first.SHA256, bytes)
		write(t, st, remove(b, first.SHA256, "p"))
		gone(t, b, first.SHA256)
		readable(t, a, first.SHA256, bytes)
		write(t, st, remove(a, first.SHA256, "q"))
		gone(t, a, first.SHA256)
		refused(t, st, store.CodeNotFound, remove(a, first.SHA256, "q"))
		third := put(t, a, "p", "image/webp", bytes)
		if third.Mime != "image/webp" {
			t.Errorf("the removed asset came back as %+v", third)
		}
	})
	t.Run("C2-127", func(t *testing.T) {
		a, b := newSession(t, st), newSession(t, st)
		asset := put(t, a, "p", "image/png", newID("picture"))
		gone(t, b, asset.SHA256)
	})
	t.Run("empty bytes or type", func(t *testing.T) {
		id := newSession(t, st)
		for _, c := range []struct{ mime, bytes, field string }{{"image/png", "", "bytes"}, {"", "x", "mime"}} {
			refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
				_, err := tx.PutMedia(ctx, store.MediaRef{SessionID: id, PluginID: "p"}, c.mime, []byte(c.bytes))
				return err
			}, c.field)
		}
	})
}
