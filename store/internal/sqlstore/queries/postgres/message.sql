-- name: message_mark
UPDATE turn_messages SET compacted_by = ?3
WHERE session_id = ?1 AND compacted_by IS NULL AND id IN (SELECT json_array_elements_text(CAST(?2 AS json)));

-- name: message_remark
UPDATE turn_messages SET compacted_by = ?3
WHERE session_id = ?1 AND compacted_by IN (SELECT json_array_elements_text(CAST(?2 AS json)));
