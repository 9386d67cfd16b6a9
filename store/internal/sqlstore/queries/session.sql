-- name: session_get
SELECT id, world_id, status, phase, locale, turn_count, completed_player_turns, pre_game_completed, setup_runtimes,
	active_plugins, seats, metadata, runtime_model_overrides, fence, tenant, next_message_seq, created_at, updated_at
FROM sessions WHERE id = ?1;

-- name: session_list
SELECT id, world_id, status, phase, locale, turn_count, completed_player_turns, pre_game_completed, setup_runtimes,
	active_plugins, seats, metadata, runtime_model_overrides, fence, tenant, next_message_seq, created_at, updated_at
FROM sessions ORDER BY created_at DESC, id DESC LIMIT ?1;

-- name: session_insert
INSERT INTO sessions (id, world_id, status, phase, locale, turn_count, completed_player_turns, pre_game_completed,
	setup_runtimes, active_plugins, seats, metadata, runtime_model_overrides, fence, created_at, updated_at, tenant)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT DO NOTHING;

-- name: session_update
UPDATE sessions SET world_id = ?2, status = ?3, phase = ?4, locale = ?5, turn_count = ?6, completed_player_turns = ?7,
	pre_game_completed = ?8, setup_runtimes = ?9, active_plugins = ?10, seats = ?11, metadata = ?12,
	runtime_model_overrides = ?13, updated_at = ?14, tenant = ?15
WHERE id = ?1;

-- name: session_fence
SELECT fence FROM sessions WHERE id = ?1;

-- name: session_set_fence
UPDATE sessions SET fence = ?2 WHERE id = ?1;

-- name: session_take_message_seqs
UPDATE sessions SET next_message_seq = next_message_seq + ?2 WHERE id = ?1 RETURNING next_message_seq;

-- name: session_take_data_seqs
UPDATE sessions SET next_data_seq = next_data_seq + ?2 WHERE id = ?1 RETURNING next_data_seq;

-- name: session_delete
DELETE FROM sessions WHERE id = ?1;
