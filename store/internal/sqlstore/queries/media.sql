-- name: media_asset_insert
INSERT INTO media_assets (sha256, mime, size_bytes, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: media_blob_insert
INSERT INTO media_blobs (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: media_ref_put
INSERT INTO media_refs (session_id, sha256, plugin_id, meta, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (session_id, sha256, plugin_id) DO UPDATE SET meta = excluded.meta;

-- name: media_asset_get
SELECT sha256, mime, size_bytes, created_at FROM media_assets WHERE sha256 = ?1;

-- name: media_get
SELECT a.sha256, a.mime, a.size_bytes, a.created_at, b.bytes
FROM media_assets a JOIN media_blobs b ON b.sha256 = a.sha256
WHERE a.sha256 = ?2 AND EXISTS (SELECT 1 FROM media_refs r WHERE r.session_id = ?1 AND r.sha256 = ?2);

-- name: media_ref_delete
DELETE FROM media_refs WHERE session_id = ?1 AND sha256 = ?2 AND plugin_id = ?3;

-- name: media_asset_delete_orphan
DELETE FROM media_assets WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM media_refs r WHERE r.sha256 = ?1);

-- name: media_blob_delete_orphan
DELETE FROM media_blobs WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM media_refs r WHERE r.sha256 = ?1);
