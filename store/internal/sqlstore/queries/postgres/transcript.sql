-- name: blob_get_many
SELECT hash, bytes FROM blobs WHERE hash IN (SELECT json_array_elements_text(CAST(?1 AS json)));

-- name: blob_refs_put
INSERT INTO blob_refs (session_id, hash) SELECT ?1, json_array_elements_text(CAST(?2 AS json)) ON CONFLICT DO NOTHING;
