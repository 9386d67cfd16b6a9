-- name: plugin_datum_get
SELECT session_id, plugin_id, namespace, key, value, schema_version, created_at, updated_at, created_seq, updated_seq
FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3 AND key = ?4;

-- name: plugin_data_page
SELECT session_id, plugin_id, namespace, key, value, schema_version, created_at, updated_at, created_seq, updated_seq
FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3 AND key > ?4 ORDER BY key LIMIT ?5;

-- name: plugin_data_put
INSERT INTO plugin_data (id, session_id, plugin_id, namespace, key, value, schema_version, created_at, updated_at,
	created_seq, updated_seq)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)
ON CONFLICT (session_id, plugin_id, namespace, key) DO UPDATE SET value = excluded.value,
	schema_version = excluded.schema_version, updated_at = excluded.updated_at, updated_seq = excluded.updated_seq;

-- name: plugin_data_delete
DELETE FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3 AND key = ?4;

-- name: plugin_data_count
SELECT COUNT(*) FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3;

-- name: plugin_data_earliest
SELECT session_id, plugin_id, namespace, key, value, schema_version, created_at, updated_at, created_seq, updated_seq
FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3
ORDER BY created_at, created_seq LIMIT ?4;

-- name: plugin_data_latest
SELECT session_id, plugin_id, namespace, key, value, schema_version, created_at, updated_at, created_seq, updated_seq
FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3
ORDER BY updated_at DESC, updated_seq DESC LIMIT ?4;

-- name: plugin_data_trim
DELETE FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3 AND id NOT IN (
	SELECT id FROM plugin_data WHERE session_id = ?1 AND plugin_id = ?2 AND namespace = ?3
	ORDER BY created_at DESC, created_seq DESC LIMIT ?4);
