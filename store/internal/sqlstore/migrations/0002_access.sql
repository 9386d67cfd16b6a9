-- Who may use the HTTP API, and who did what. Neither belongs to a session.

ALTER TABLE sessions ADD COLUMN tenant {text} NOT NULL DEFAULT '';

CREATE TABLE api_tokens (
	id {text} NOT NULL PRIMARY KEY,
	name {text} NOT NULL,
	hash {text} NOT NULL UNIQUE,
	tenant {text} NOT NULL DEFAULT '',
	worlds {json},
	sessions {json},
	created_at {time} NOT NULL,
	expires_at {time}
) {table};

CREATE TABLE audit_entries (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	happened_at {time} NOT NULL,
	actor {text} NOT NULL,
	action {text} NOT NULL,
	subject {text} NOT NULL,
	detail {text} NOT NULL DEFAULT ''
) {table};
CREATE INDEX audit_entries_by_subject ON audit_entries (subject, happened_at);
