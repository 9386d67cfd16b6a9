-- name: snapshot_insert
INSERT INTO snapshots (id, session_id, kind, player_turn_count, version, payload, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;

-- name: snapshot_get
SELECT id, session_id, kind, player_turn_count, version, payload, created_at
FROM snapshots WHERE session_id = ?1 AND id = ?2;

-- name: snapshot_list
SELECT id, session_id, kind, player_turn_count, version, created_at
FROM snapshots WHERE session_id = ?1 ORDER BY created_at DESC, ord DESC;

-- name: snapshot_delete
DELETE FROM snapshots WHERE session_id = ?1 AND id = ?2;

-- name: snapshot_delete_auto
DELETE FROM snapshots WHERE session_id = ?1 AND kind = 'auto' AND player_turn_count = ?2;

-- name: snapshot_trim_auto
DELETE FROM snapshots WHERE session_id = ?1 AND kind = 'auto' AND id NOT IN (
	SELECT id FROM snapshots WHERE session_id = ?1 AND kind = 'auto' ORDER BY created_at DESC, ord DESC LIMIT ?2);

-- name: snapshot_clear_plugin_data
DELETE FROM plugin_data WHERE session_id = ?1 AND namespace NOT IN ('_jobs', '_logs');

-- name: snapshot_restore_session
UPDATE sessions SET world_id = ?2, status = ?3, phase = ?4, locale = ?5, turn_count = ?6, completed_player_turns = ?7,
	pre_game_completed = ?8, setup_runtimes = ?9, active_plugins = ?10, seats = ?11, metadata = ?12,
	runtime_model_overrides = ?13, embedding_model_id = ?14, embedding_locked_at = ?15, created_at = ?16, updated_at = ?17
WHERE id = ?1;

-- name: snapshot_marks
SELECT id, compacted_by FROM turn_messages WHERE session_id = ?1 AND compacted_by IS NOT NULL;
