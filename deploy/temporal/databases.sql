-- Run once by the postgres image, on an empty volume. POSTGRES_DB has made
-- the database "temporal".
CREATE DATABASE temporal_visibility;
