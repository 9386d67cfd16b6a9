-- name: transcript_range
SELECT t.run_id, t.seq, t.session_id, t.turn_id, t.role, t.content_hash, b.bytes, t.created_at
FROM transcripts t JOIN blobs b ON b.hash = t.content_hash
WHERE t.run_id = ?1 AND t.seq >= ?2 AND t.seq < ?3 ORDER BY t.seq;

-- name: transcript_append
INSERT INTO transcripts (run_id, seq, session_id, turn_id, role, content_hash, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;

-- name: blob_put
INSERT INTO blobs (hash, bytes, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING;
