-- name: summary_list
SELECT id, session_id, turn_range_start, turn_range_end, content, focus_sections, created_at
FROM session_summaries WHERE session_id = ?1 ORDER BY created_at, id;

-- name: summary_insert
INSERT INTO session_summaries (id, session_id, turn_range_start, turn_range_end, content, focus_sections, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;

-- name: summary_update
UPDATE session_summaries SET turn_range_start = ?3, turn_range_end = ?4, content = ?5, focus_sections = ?6,
	created_at = ?7
WHERE id = ?1 AND session_id = ?2;

-- name: summary_delete
DELETE FROM session_summaries WHERE session_id = ?1 AND id = ?2;

-- name: summary_delete_all
DELETE FROM session_summaries WHERE session_id = ?1;

-- name: compaction_state_get
SELECT session_id, consecutive_failures, oversized_row_id, updated_at FROM compaction_state WHERE session_id = ?1;

-- name: compaction_state_put
INSERT INTO compaction_state (session_id, consecutive_failures, oversized_row_id, updated_at)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (session_id) DO UPDATE SET consecutive_failures = excluded.consecutive_failures,
	oversized_row_id = excluded.oversized_row_id, updated_at = excluded.updated_at;

-- name: compaction_run_get
SELECT session_id, execution_id, turn_id, outcome, reason, summary_ids, created_at
FROM compaction_runs WHERE session_id = ?1 AND execution_id = ?2;

-- name: compaction_run_insert
INSERT INTO compaction_runs (session_id, execution_id, turn_id, outcome, reason, summary_ids, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING;
