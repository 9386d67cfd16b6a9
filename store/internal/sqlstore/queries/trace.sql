-- name: trace_list
SELECT id, session_id, trace_id, turn_id, seq, type, payload, created_at FROM trace_events
WHERE (?1 = '' OR session_id = ?1) AND (?2 = '' OR turn_id = ?2) AND (?3 = '' OR type = ?3)
ORDER BY created_at, seq, ord;

-- name: trace_list_of_session
SELECT id, session_id, trace_id, turn_id, seq, type, payload, created_at FROM trace_events
WHERE session_id = ?1 AND (?2 = '' OR type = ?2) ORDER BY created_at, seq, ord;

-- name: trace_list_of_turn
SELECT id, session_id, trace_id, turn_id, seq, type, payload, created_at FROM trace_events
WHERE session_id = ?1 AND turn_id = ?2 AND (?3 = '' OR type = ?3) ORDER BY created_at, seq, ord;

-- name: trace_seq
SELECT session_id, seq FROM trace_events WHERE id = ?1;

-- name: trace_insert
INSERT INTO trace_events (id, session_id, trace_id, turn_id, seq, type, base_id, payload, created_at)
VALUES (?1, ?2, ?3, ?4,
	(SELECT COALESCE(MAX(seq) + 1, 0) FROM trace_events WHERE session_id = ?2 AND trace_id = ?3), ?5, ?6, ?7, ?8)
ON CONFLICT (id) DO NOTHING RETURNING seq;

-- name: chunk_list
SELECT session_id, turn_id, runtime_id, seq, attempt, kind, text, created_at FROM stream_chunks
WHERE session_id = ?1 AND turn_id = ?2 AND runtime_id = ?3 AND seq > ?4 ORDER BY seq;

-- name: chunk_get
SELECT session_id, turn_id, runtime_id, seq, attempt, kind, text, created_at FROM stream_chunks
WHERE session_id = ?1 AND turn_id = ?2 AND runtime_id = ?3 AND seq = ?4;

-- name: chunk_last
SELECT session_id, turn_id, runtime_id, seq, attempt, kind, text, created_at FROM stream_chunks
WHERE session_id = ?1 AND turn_id = ?2 AND runtime_id = ?3 ORDER BY seq DESC LIMIT 1;

-- name: chunk_insert
INSERT INTO stream_chunks (session_id, turn_id, runtime_id, seq, attempt, kind, text, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING;

-- name: stream_list
SELECT DISTINCT session_id, turn_id, runtime_id FROM stream_chunks
WHERE session_id = ?1 AND turn_id = ?2 ORDER BY runtime_id;
