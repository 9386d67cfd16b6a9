-- name: blob_get_many
SELECT hash, bytes FROM blobs WHERE hash IN (SELECT value FROM json_each(?1));

-- name: blob_refs_put
INSERT INTO blob_refs (session_id, hash) SELECT ?1, value FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING;
