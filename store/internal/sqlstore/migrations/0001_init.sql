-- Words in braces are the dialect's: {text} {json} {time} {bool} {bytes} {int} {serial} {table}.
-- No foreign keys: DeleteSession removes the rows (spec 02 §23).

CREATE TABLE sessions (
	id {text} NOT NULL PRIMARY KEY,
	fence {text} NOT NULL DEFAULT '',
	world_id {text} NOT NULL,
	status {text} NOT NULL,
	phase {text} NOT NULL,
	locale {text} NOT NULL DEFAULT '',
	turn_count {int} NOT NULL DEFAULT 0,
	completed_player_turns {int} NOT NULL DEFAULT 0,
	pre_game_completed {bool} NOT NULL,
	setup_runtimes {json},
	active_plugins {json},
	seats {json},
	metadata {json},
	runtime_model_overrides {json},
	embedding_model_id {text} NOT NULL DEFAULT '',
	embedding_locked_at {time},
	next_message_seq {int} NOT NULL DEFAULT 1,
	next_data_seq {int} NOT NULL DEFAULT 1,
	created_at {time} NOT NULL,
	updated_at {time} NOT NULL
) {table};
CREATE INDEX sessions_by_creation ON sessions (created_at, id);

CREATE TABLE turn_messages (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	seq {int} NOT NULL,
	turn_id {text} NOT NULL,
	source_type {text} NOT NULL,
	source_plugin_id {text} NOT NULL DEFAULT '',
	source_runtime_id {text} NOT NULL DEFAULT '',
	role {text} NOT NULL,
	name {text} NOT NULL DEFAULT '',
	content {text} NOT NULL,
	ui {json},
	pending_input {json},
	metadata {json},
	compacted_by {text},
	created_at {time} NOT NULL,
	UNIQUE (session_id, seq)
) {table};
CREATE INDEX turn_messages_by_turn ON turn_messages (session_id, turn_id);
CREATE INDEX turn_messages_by_mark ON turn_messages (session_id, compacted_by, seq);

CREATE TABLE session_summaries (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	turn_range_start {text} NOT NULL,
	turn_range_end {text} NOT NULL,
	content {text} NOT NULL,
	focus_sections {json} NOT NULL,
	created_at {time} NOT NULL
) {table};
CREATE INDEX session_summaries_by_age ON session_summaries (session_id, created_at, id);

CREATE TABLE compaction_state (
	session_id {text} NOT NULL PRIMARY KEY,
	consecutive_failures {int} NOT NULL DEFAULT 0,
	oversized_row_id {text} NOT NULL DEFAULT '',
	updated_at {time} NOT NULL
) {table};

CREATE TABLE compaction_runs (
	session_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	outcome {text} NOT NULL,
	reason {text} NOT NULL DEFAULT '',
	summary_ids {json} NOT NULL,
	created_at {time} NOT NULL,
	PRIMARY KEY (session_id, execution_id)
) {table};

CREATE TABLE executions (
	session_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	abort_requested {bool} NOT NULL,
	created_at {time} NOT NULL,
	PRIMARY KEY (session_id, execution_id)
) {table};

CREATE TABLE journal (
	ord {serial},
	session_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	kind {text} NOT NULL,
	key {text} NOT NULL,
	payload {json},
	created_at {time} NOT NULL,
	UNIQUE (session_id, execution_id, kind, key)
) {table};

CREATE TABLE turn_commits (
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	count_policy {text} NOT NULL,
	result {json},
	committed_at {time} NOT NULL,
	PRIMARY KEY (session_id, turn_id)
) {table};

CREATE TABLE turn_results (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	logical_turn {int} NOT NULL DEFAULT 0,
	input_hash {text} NOT NULL DEFAULT '',
	execution_context {json},
	player_message {text} NOT NULL DEFAULT '',
	error {json},
	runtime_results {json},
	conflicts {json},
	audit_result {json},
	duration_ms {int} NOT NULL DEFAULT 0,
	origin {text} NOT NULL DEFAULT '',
	parent_turn_id {text} NOT NULL DEFAULT '',
	commit_status {text} NOT NULL,
	created_at {time} NOT NULL,
	UNIQUE (session_id, turn_id)
) {table};
CREATE INDEX turn_results_by_age ON turn_results (session_id, created_at, ord);

CREATE TABLE runtime_outputs (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	runtime_result_id {text} NOT NULL,
	plugin_id {text} NOT NULL,
	runtime_id {text} NOT NULL,
	timestamp {time} NOT NULL,
	results {json},
	meta_data {json},
	created_at {time} NOT NULL
) {table};
CREATE INDEX runtime_outputs_by_turn ON runtime_outputs (session_id, turn_id);

CREATE TABLE continuations (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	plugin_id {text} NOT NULL,
	runtime_id {text} NOT NULL,
	reason {text} NOT NULL DEFAULT '',
	resume_schema {json},
	payload {json},
	status {text} NOT NULL,
	claim_token {text},
	claimed_at {time},
	deadline_at {time},
	closed_reason {text} NOT NULL DEFAULT '',
	created_at {time} NOT NULL,
	resolved_at {time}
) {table};
CREATE INDEX continuations_by_status ON continuations (session_id, status, created_at);
CREATE INDEX continuations_by_deadline ON continuations (deadline_at) WHERE status = 'open';

CREATE TABLE transcripts (
	run_id {text} NOT NULL,
	seq {int} NOT NULL,
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	role {text} NOT NULL,
	content_hash {text} NOT NULL,
	created_at {time} NOT NULL,
	PRIMARY KEY (run_id, seq)
) {table};
CREATE INDEX transcripts_by_session ON transcripts (session_id);
CREATE INDEX transcripts_by_hash ON transcripts (content_hash);

CREATE TABLE blobs (
	hash {text} NOT NULL PRIMARY KEY,
	bytes {bytes} NOT NULL,
	created_at {time} NOT NULL
) {table};

-- The hashes that a session's transcripts and trace events mention inside their contents.
CREATE TABLE blob_refs (
	session_id {text} NOT NULL,
	hash {text} NOT NULL,
	PRIMARY KEY (session_id, hash)
) {table};
CREATE INDEX blob_refs_by_hash ON blob_refs (hash);

CREATE TABLE exports (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	plugin_id {text} NOT NULL,
	runtime_id {text} NOT NULL,
	export_key {text} NOT NULL,
	turn_id {text} NOT NULL,
	value {json},
	committed_at {time} NOT NULL
) {table};
CREATE INDEX exports_by_key ON exports (session_id, export_key, committed_at);

CREATE TABLE outbox (
	session_id {text} NOT NULL,
	execution_id {text} NOT NULL,
	seq {int} NOT NULL,
	kind {text} NOT NULL,
	payload {json},
	created_at {time} NOT NULL,
	sent_at {time},
	PRIMARY KEY (session_id, execution_id, seq)
) {table};

CREATE TABLE trace_events (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	trace_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	seq {int} NOT NULL,
	type {text} NOT NULL,
	base_id {text} NOT NULL DEFAULT '',
	payload {json},
	created_at {time} NOT NULL,
	UNIQUE (session_id, trace_id, seq)
) {table};
CREATE INDEX trace_events_by_turn ON trace_events (session_id, turn_id);
CREATE INDEX trace_events_by_age ON trace_events (created_at);
CREATE INDEX trace_events_by_base ON trace_events (base_id) WHERE base_id <> '';

CREATE TABLE events (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	type {text} NOT NULL,
	topic {text} NOT NULL,
	payload {json},
	target_runtime {text} NOT NULL DEFAULT '',
	turn_id {text} NOT NULL,
	created_at {time} NOT NULL
) {table};
CREATE INDEX events_by_topic ON events (session_id, topic);

CREATE TABLE plugin_data (
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	plugin_id {text} NOT NULL,
	namespace {text} NOT NULL,
	key {text} NOT NULL,
	value {json} NOT NULL,
	schema_version {int} NOT NULL DEFAULT 0,
	created_at {time} NOT NULL,
	updated_at {time} NOT NULL,
	created_seq {int} NOT NULL,
	updated_seq {int} NOT NULL,
	PRIMARY KEY (session_id, plugin_id, namespace, key)
) {table};
CREATE INDEX plugin_data_by_creation ON plugin_data (session_id, plugin_id, namespace, created_at, created_seq);
CREATE INDEX plugin_data_by_update ON plugin_data (session_id, plugin_id, namespace, updated_at, updated_seq);

CREATE TABLE stream_chunks (
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	runtime_id {text} NOT NULL,
	seq {int} NOT NULL,
	attempt {int} NOT NULL,
	kind {text} NOT NULL,
	text {text} NOT NULL,
	created_at {time} NOT NULL,
	PRIMARY KEY (session_id, turn_id, runtime_id, seq)
) {table};

CREATE TABLE messages (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	role {text} NOT NULL,
	content {text} NOT NULL,
	metadata {json},
	created_at {time} NOT NULL
) {table};
CREATE INDEX messages_by_session ON messages (session_id, ord);

CREATE TABLE player_inputs (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	seq {int} NOT NULL,
	turn_id {text} NOT NULL,
	form_id {text} NOT NULL,
	"values" {json},
	created_at {time} NOT NULL,
	UNIQUE (session_id, seq)
) {table};

CREATE TABLE interaction_records (
	id {text} NOT NULL PRIMARY KEY,
	session_id {text} NOT NULL,
	turn_id {text} NOT NULL,
	timestamp {time} NOT NULL,
	source {text} NOT NULL,
	channel {text} NOT NULL,
	type {text} NOT NULL,
	target_ids {json} NOT NULL,
	payload {json},
	meta_data {json},
	created_at {time} NOT NULL
) {table};
CREATE INDEX interaction_records_by_time ON interaction_records (session_id, timestamp);
CREATE INDEX interaction_records_by_type ON interaction_records (session_id, type);

CREATE TABLE characters (
	session_id {text} NOT NULL,
	id {text} NOT NULL,
	name {text} NOT NULL,
	type {text} NOT NULL,
	description {text} NOT NULL DEFAULT '',
	aliases {json},
	fields {json},
	version {int} NOT NULL DEFAULT 0,
	created_at {time} NOT NULL,
	updated_at {time} NOT NULL,
	PRIMARY KEY (session_id, id)
) {table};

CREATE TABLE lorebook_entries (
	session_id {text} NOT NULL,
	owner {text} NOT NULL,
	id {text} NOT NULL,
	keys {json},
	content {text} NOT NULL,
	strategy {text} NOT NULL,
	position {text} NOT NULL,
	insertion_order {int} NOT NULL DEFAULT 0,
	enabled {bool} NOT NULL,
	extra {json},
	created_at {time} NOT NULL,
	updated_at {time} NOT NULL,
	PRIMARY KEY (session_id, owner, id)
) {table};

CREATE TABLE media_assets (
	sha256 {text} NOT NULL PRIMARY KEY,
	mime {text} NOT NULL,
	size_bytes {int} NOT NULL,
	created_at {time} NOT NULL
) {table};

CREATE TABLE media_blobs (
	sha256 {text} NOT NULL PRIMARY KEY,
	bytes {bytes} NOT NULL
) {table};

CREATE TABLE media_refs (
	session_id {text} NOT NULL,
	sha256 {text} NOT NULL,
	plugin_id {text} NOT NULL,
	meta {json},
	created_at {time} NOT NULL,
	PRIMARY KEY (session_id, sha256, plugin_id)
) {table};
CREATE INDEX media_refs_by_asset ON media_refs (sha256);

CREATE TABLE snapshots (
	ord {serial},
	id {text} NOT NULL UNIQUE,
	session_id {text} NOT NULL,
	kind {text} NOT NULL,
	player_turn_count {int} NOT NULL,
	version {int} NOT NULL,
	payload {json} NOT NULL,
	created_at {time} NOT NULL
) {table};
CREATE UNIQUE INDEX snapshots_auto ON snapshots (session_id, player_turn_count) WHERE kind = 'auto';
CREATE INDEX snapshots_by_session ON snapshots (session_id, kind, player_turn_count);
