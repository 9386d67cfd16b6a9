-- name: character_list
SELECT session_id, id, name, type, description, aliases, fields, version, created_at, updated_at
FROM characters WHERE session_id = ?1 ORDER BY created_at, id;

-- name: character_put
INSERT INTO characters (session_id, id, name, type, description, aliases, fields, version, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (session_id, id) DO UPDATE SET name = excluded.name, type = excluded.type,
	description = excluded.description, aliases = excluded.aliases, fields = excluded.fields,
	version = excluded.version, updated_at = excluded.updated_at;

-- name: lore_list
SELECT session_id, owner, id, keys, content, strategy, position, insertion_order, enabled, extra, created_at, updated_at
FROM lorebook_entries WHERE session_id = ?1 ORDER BY insertion_order, created_at, owner, id;

-- name: lore_put
INSERT INTO lorebook_entries (session_id, owner, id, keys, content, strategy, position, insertion_order, enabled, extra,
	created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (session_id, owner, id) DO UPDATE SET keys = excluded.keys, content = excluded.content,
	strategy = excluded.strategy, position = excluded.position, insertion_order = excluded.insertion_order,
	enabled = excluded.enabled, extra = excluded.extra, updated_at = excluded.updated_at;

-- name: player_input_latest
SELECT id, session_id, seq, turn_id, form_id, "values", created_at
FROM player_inputs WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1;

-- name: player_input_next_seq
SELECT COALESCE(MAX(seq), 0) + 1 FROM player_inputs WHERE session_id = ?1;

-- name: player_input_insert
INSERT INTO player_inputs (id, session_id, seq, turn_id, form_id, "values", created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;
