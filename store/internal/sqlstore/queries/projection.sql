-- name: runtime_output_insert
INSERT INTO runtime_outputs (id, session_id, turn_id, runtime_result_id, plugin_id, runtime_id, timestamp, results,
	meta_data, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING;

-- name: runtime_output_list
SELECT id, session_id, turn_id, runtime_result_id, plugin_id, runtime_id, timestamp, results, meta_data, created_at
FROM runtime_outputs WHERE session_id = ?1 AND turn_id = ?2 ORDER BY timestamp, id;

-- name: event_insert
INSERT INTO events (id, session_id, type, topic, payload, target_runtime, turn_id, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING;

-- name: event_list
SELECT id, session_id, type, topic, payload, target_runtime, turn_id, created_at
FROM events WHERE session_id = ?1 AND (?2 = '' OR topic = ?2) ORDER BY ord;

-- name: mirror_insert
INSERT INTO messages (id, session_id, role, content, metadata, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING;

-- name: mirror_list
SELECT id, session_id, role, content, metadata, created_at FROM messages WHERE session_id = ?1 ORDER BY ord;

-- name: interaction_insert
INSERT INTO interaction_records (id, session_id, turn_id, timestamp, source, channel, type, target_ids, payload,
	meta_data, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING;

-- name: interaction_list
SELECT id, session_id, turn_id, timestamp, source, channel, type, target_ids, payload, meta_data, created_at
FROM interaction_records WHERE session_id = ?1 AND (?2 = '' OR type = ?2) ORDER BY timestamp, id;
