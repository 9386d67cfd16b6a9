-- name: session_pin
-- Holds off a deletion until the transaction ends; other writers go on.
SELECT 1 FROM sessions WHERE id = ?1 FOR KEY SHARE;

-- name: session_pin_for_delete
SELECT 1 FROM sessions WHERE id = ?1 FOR UPDATE;
