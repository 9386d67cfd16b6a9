-- name: turn_record_get
SELECT id, session_id, turn_id, execution_id, input_hash, origin, execution_context, player_message, error,
	runtime_results, conflicts, duration_ms, parent_turn_id, commit_status, logical_turn, created_at
FROM turn_results WHERE session_id = ?1 AND turn_id = ?2;

-- name: turn_record_list
SELECT id, session_id, turn_id, execution_id, input_hash, origin, execution_context, player_message, error,
	runtime_results, conflicts, duration_ms, parent_turn_id, commit_status, logical_turn, created_at
FROM turn_results WHERE session_id = ?1 ORDER BY created_at DESC, ord DESC LIMIT ?2;

-- name: turn_record_put
INSERT INTO turn_results (id, session_id, turn_id, execution_id, input_hash, origin, execution_context, player_message,
	error, runtime_results, conflicts, duration_ms, parent_turn_id, commit_status, logical_turn, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (session_id, turn_id) DO UPDATE SET id = excluded.id, execution_id = excluded.execution_id,
	input_hash = excluded.input_hash, origin = excluded.origin, execution_context = excluded.execution_context,
	player_message = excluded.player_message, error = excluded.error, runtime_results = excluded.runtime_results,
	conflicts = excluded.conflicts, duration_ms = excluded.duration_ms, parent_turn_id = excluded.parent_turn_id,
	commit_status = excluded.commit_status, logical_turn = excluded.logical_turn, created_at = excluded.created_at;

-- name: turn_record_owner
SELECT session_id, turn_id FROM turn_results WHERE id = ?1;

-- name: turn_commit_get
SELECT session_id, turn_id, execution_id, count_policy, result, committed_at
FROM turn_commits WHERE session_id = ?1 AND turn_id = ?2;

-- name: turn_commit_insert
INSERT INTO turn_commits (session_id, turn_id, execution_id, count_policy, result, committed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING;

-- name: journal_get
SELECT session_id, execution_id, kind, key, payload, created_at
FROM journal WHERE session_id = ?1 AND execution_id = ?2 AND kind = ?3 AND key = ?4;

-- name: journal_list
SELECT session_id, execution_id, kind, key, payload, created_at
FROM journal WHERE session_id = ?1 AND execution_id = ?2 AND kind = ?3 ORDER BY ord;

-- name: journal_put
INSERT INTO journal (session_id, execution_id, kind, key, payload, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING;

-- name: abort_request
INSERT INTO executions (session_id, execution_id, abort_requested, created_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (session_id, execution_id) DO UPDATE SET abort_requested = excluded.abort_requested;

-- name: abort_requested
SELECT abort_requested FROM executions WHERE session_id = ?1 AND execution_id = ?2;

-- name: export_newest
SELECT id, session_id, plugin_id, runtime_id, export_key, turn_id, value, committed_at
FROM exports WHERE session_id = ?1 AND export_key = ?2 AND committed_at <= ?3
ORDER BY committed_at DESC, ord DESC LIMIT 1;

-- name: export_insert
INSERT INTO exports (id, session_id, plugin_id, runtime_id, export_key, turn_id, value, committed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING;

-- name: outbox_list
SELECT session_id, execution_id, seq, kind, payload, created_at, sent_at
FROM outbox WHERE session_id = ?1 AND execution_id = ?2 ORDER BY seq;

-- name: outbox_insert
INSERT INTO outbox (session_id, execution_id, seq, kind, payload, created_at, sent_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;

-- name: outbox_sent
UPDATE outbox SET sent_at = COALESCE(sent_at, ?4) WHERE session_id = ?1 AND execution_id = ?2 AND seq = ?3;
