-- name: message_mark
UPDATE turn_messages SET compacted_by = ?3
WHERE session_id = ?1 AND compacted_by IS NULL AND id IN (SELECT value FROM json_each(?2));

-- name: message_remark
UPDATE turn_messages SET compacted_by = ?3
WHERE session_id = ?1 AND compacted_by IN (SELECT value FROM json_each(?2));
