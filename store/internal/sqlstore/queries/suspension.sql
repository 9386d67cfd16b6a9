-- name: suspension_get
SELECT id, session_id, turn_id, runtime_id, plugin_id, reason, resume_schema, payload, status, COALESCE(claim_token, ''),
	claimed_at, deadline_at, closed_reason, created_at, resolved_at
FROM continuations WHERE id = ?1;

-- name: suspension_list
SELECT id, session_id, turn_id, runtime_id, plugin_id, reason, resume_schema, payload, status, COALESCE(claim_token, ''),
	claimed_at, deadline_at, closed_reason, created_at, resolved_at
FROM continuations WHERE session_id = ?1 ORDER BY created_at, id;

-- name: suspension_insert
INSERT INTO continuations (id, session_id, turn_id, runtime_id, plugin_id, reason, resume_schema, payload, status,
	deadline_at, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'open', ?9, ?10) ON CONFLICT DO NOTHING;

-- name: suspension_update_open
UPDATE continuations SET reason = ?3, resume_schema = ?4, payload = ?5, deadline_at = ?6
WHERE id = ?1 AND session_id = ?2 AND status = 'open';

-- name: suspension_claim
UPDATE continuations SET status = 'claimed', claim_token = ?2, claimed_at = ?3
WHERE id = ?1 AND status = 'open' AND (deadline_at IS NULL OR deadline_at > ?3);

-- name: suspension_expire
UPDATE continuations SET status = 'cancelled', closed_reason = 'deadline', resolved_at = ?2
WHERE id = ?1 AND status = 'open' AND deadline_at IS NOT NULL AND deadline_at <= ?2;

-- name: suspension_release
UPDATE continuations SET status = 'open', claim_token = NULL, claimed_at = NULL
WHERE id = ?1 AND status = 'claimed' AND claim_token = ?2;

-- name: suspension_resolve
UPDATE continuations SET status = 'resolved', resolved_at = ?3
WHERE id = ?1 AND status = 'claimed' AND claim_token = ?2;

-- name: suspension_cancel
UPDATE continuations SET status = 'cancelled', closed_reason = ?2, resolved_at = ?3
WHERE id = ?1 AND status = 'open';

-- name: suspension_due
SELECT id FROM continuations WHERE status = 'open' AND deadline_at <= ?1 ORDER BY deadline_at LIMIT ?2;
