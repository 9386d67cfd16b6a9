-- name: token_by_hash
SELECT id, name, hash, tenant, worlds, sessions, created_at, expires_at FROM api_tokens WHERE hash = ?1;

-- name: token_list
SELECT id, name, hash, tenant, worlds, sessions, created_at, expires_at FROM api_tokens ORDER BY created_at, id;

-- name: token_insert
INSERT INTO api_tokens (id, name, hash, tenant, worlds, sessions, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING;

-- name: token_delete
DELETE FROM api_tokens WHERE id = ?1;

-- name: audit_list
SELECT id, happened_at, actor, action, subject, detail FROM audit_entries ORDER BY happened_at DESC, ord DESC LIMIT ?1;

-- name: audit_list_of
SELECT id, happened_at, actor, action, subject, detail FROM audit_entries WHERE subject = ?1
ORDER BY happened_at DESC, ord DESC LIMIT ?2;

-- name: audit_insert
INSERT INTO audit_entries (id, happened_at, actor, action, subject, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO NOTHING;
