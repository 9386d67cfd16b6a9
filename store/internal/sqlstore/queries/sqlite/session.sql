-- name: session_pin
SELECT 1 FROM sessions WHERE id = ?1;

-- name: session_pin_for_delete
SELECT 1 FROM sessions WHERE id = ?1;
