-- name: message_insert
INSERT INTO turn_messages (id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name,
	content, ui, pending_input, metadata, compacted_by, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT DO NOTHING;

-- name: message_all
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages WHERE session_id = ?1 ORDER BY seq;

-- name: message_raw
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages WHERE session_id = ?1 AND compacted_by IS NULL ORDER BY seq LIMIT ?2;

-- name: message_raw_after
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages WHERE session_id = ?1 AND compacted_by IS NULL AND seq > ?2 ORDER BY seq;

-- name: message_raw_span
SELECT COUNT(*), COALESCE(MIN(seq), 0), COALESCE(MAX(seq), 0)
FROM turn_messages WHERE session_id = ?1 AND compacted_by IS NULL;

-- name: message_tail
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages WHERE session_id = ?1 ORDER BY seq DESC LIMIT ?2;

-- name: message_last_turns
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages
WHERE session_id = ?1 AND turn_id IN (
	SELECT turn_id FROM turn_messages WHERE session_id = ?1 GROUP BY turn_id ORDER BY MAX(seq) DESC LIMIT ?2)
ORDER BY seq;

-- name: message_of_turn
SELECT id, session_id, seq, turn_id, source_type, source_plugin_id, source_runtime_id, role, name, content, ui,
	pending_input, metadata, COALESCE(compacted_by, ''), created_at
FROM turn_messages WHERE session_id = ?1 AND turn_id = ?2 ORDER BY seq;

-- name: message_counts
SELECT source_type, source_runtime_id, COUNT(*) FROM turn_messages WHERE session_id = ?1
GROUP BY source_type, source_runtime_id;
