package sqlstore

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/store"
)

const mediaTable = "media_assets"

// mediaLock is held shared by writers of references and alone by those who
// remove them, so that an asset never goes while it gets a reference.
const mediaLock = "covel:media"

// Media reads an asset that the session refers to.
func (r Reads) Media(ctx context.Context, sessionID, sha256 string) (store.MediaAsset, []byte, error) {
	const op = "read media"
	var (
		asset store.MediaAsset
		bytes []byte
	)
	a := newArgs(r.Conn, op, mediaTable).ref("session_id", sessionID).ref("sha256", sha256)
	err := one(ctx, r.Conn, "media_get", a, func(row Row) error {
		return row.Scan(&asset.SHA256, &asset.Mime, &asset.SizeBytes, at(&asset.CreatedAt), &bytes)
	})
	if errors.Is(err, errNoRow) {
		return store.MediaAsset{}, nil, notFound(op, mediaTable, sha256)
	}
	return asset, bytes, err
}

// PutMedia stores equal bytes once and adds the reference. A repeated put of a
// reference replaces its meta; the first type of equal bytes stays.
func (t *Tx) PutMedia(ctx context.Context, ref store.MediaRef, mime string, data []byte) (store.MediaAsset, error) {
	const op = "put media"
	if err := t.pin(ctx, op, ref.SessionID); err != nil {
		return store.MediaAsset{}, err
	}
	if len(data) == 0 {
		return store.MediaAsset{}, invalid(op, mediaTable, "", "", "the bytes are empty")
	}
	if mime == "" {
		return store.MediaAsset{}, invalid(op, mediaTable, "", "", "mime is empty; name the type")
	}
	if err := t.share(ctx, op, mediaTable, mediaLock); err != nil {
		return store.MediaAsset{}, err
	}
	sha, created := hashOf(data), t.stamp(ref.CreatedAt)
	a := newArgs(t.conn, op, mediaTable).id("sha256", sha).ref("mime", mime).int(int64(len(data))).time("created_at", created)
	if _, err := exec(ctx, t.conn, "media_asset_insert", a); err != nil {
		return store.MediaAsset{}, err
	}
	a = newArgs(t.conn, op, "media_blobs").id("sha256", sha).bytes(data)
	if _, err := exec(ctx, t.conn, "media_blob_insert", a); err != nil {
		return store.MediaAsset{}, err
	}
	a = newArgs(t.conn, op, "media_refs").id("session_id", ref.SessionID).id("sha256", sha).ref("plugin_id", ref.PluginID).
		json("meta", ref.Meta).time("created_at", created)
	if _, err := exec(ctx, t.conn, "media_ref_put", a); err != nil {
		return store.MediaAsset{}, err
	}
	var asset store.MediaAsset
	err := one(ctx, t.conn, "media_asset_get", newArgs(t.conn, op, mediaTable).id("sha256", sha), func(row Row) error {
		return row.Scan(&asset.SHA256, &asset.Mime, &asset.SizeBytes, at(&asset.CreatedAt))
	})
	return asset, err
}

// RemoveMediaRef removes a reference, and the asset with its last one.
func (t *Tx) RemoveMediaRef(ctx context.Context, sessionID, sha256, pluginID string) error {
	const op = "remove media reference"
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	if err := t.lock(ctx, op, mediaTable, mediaLock); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "media_refs").id("session_id", sessionID).id("sha256", sha256).ref("plugin_id", pluginID)
	n, err := exec(ctx, t.conn, "media_ref_delete", a)
	if err != nil {
		return err
	}
	if n == 0 {
		return notFound(op, "media_refs", sha256)
	}
	for _, query := range []string{"media_asset_delete_orphan", "media_blob_delete_orphan"} {
		if _, err := exec(ctx, t.conn, query, newArgs(t.conn, op, mediaTable).id("sha256", sha256)); err != nil {
			return err
		}
	}
	return nil
}
