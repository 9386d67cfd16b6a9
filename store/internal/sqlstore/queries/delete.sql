-- name: blob_delete_unshared
DELETE FROM blobs
WHERE hash IN (SELECT content_hash FROM transcripts WHERE session_id = ?1
	UNION SELECT hash FROM blob_refs WHERE session_id = ?1)
AND NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.content_hash = blobs.hash AND t.session_id <> ?1)
AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.hash = blobs.hash AND r.session_id <> ?1);

-- name: media_delete_unshared_blobs
DELETE FROM media_blobs WHERE sha256 IN (SELECT sha256 FROM media_refs WHERE session_id = ?1)
AND NOT EXISTS (SELECT 1 FROM media_refs r WHERE r.sha256 = media_blobs.sha256 AND r.session_id <> ?1);

-- name: media_delete_unshared_assets
DELETE FROM media_assets WHERE sha256 IN (SELECT sha256 FROM media_refs WHERE session_id = ?1)
AND NOT EXISTS (SELECT 1 FROM media_refs r WHERE r.sha256 = media_assets.sha256 AND r.session_id <> ?1);

-- name: sweep_chunks
DELETE FROM stream_chunks WHERE (session_id, turn_id, runtime_id, seq) IN (
	SELECT c.session_id, c.turn_id, c.runtime_id, c.seq FROM stream_chunks c JOIN (
		SELECT session_id, turn_id, runtime_id FROM stream_chunks
		GROUP BY session_id, turn_id, runtime_id HAVING MAX(created_at) <= ?1) d
	ON c.session_id = d.session_id AND c.turn_id = d.turn_id AND c.runtime_id = d.runtime_id
	ORDER BY c.session_id, c.turn_id, c.runtime_id, c.seq LIMIT ?2);

-- name: sweep_trace
DELETE FROM trace_events WHERE id IN (
	SELECT id FROM trace_events WHERE created_at < ?1 AND id NOT IN (
		WITH RECURSIVE kept (id) AS (
			SELECT base_id FROM trace_events WHERE base_id <> '' AND created_at >= ?1
			UNION
			SELECT t.base_id FROM trace_events t JOIN kept k ON t.id = k.id WHERE t.base_id <> '')
		SELECT id FROM kept)
	ORDER BY created_at, ord LIMIT ?2);
