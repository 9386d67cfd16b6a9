package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/covel-engine/covel/session"
)

// Store is one database. It is safe for concurrent use.
type Store interface {
	Reader
	// WithTx runs fn in one transaction, all or nothing; fn's error comes back
	// as it is. Inside a transaction it answers NESTED_TRANSACTION.
	WithTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Migrate brings the schema up to this program's version. A newer database
	// is refused, naming both numbers.
	Migrate(ctx context.Context) error
	// SchemaVersion gives the database's and the program's migration numbers.
	SchemaVersion(ctx context.Context) (have, want int, err error)
	// Notifier wakes listeners of stream chunks and aborts across processes.
	Notifier() Notifier
	Close() error
}

// Tx is an open transaction: a Reader that sees its own writes, and every write.
type Tx interface {
	Reader
	Writer
	// Savepoint runs fn; an error of fn undoes just fn's writes and comes back.
	Savepoint(ctx context.Context, fn func(ctx context.Context) error) error
	// LockSession takes the store's session lock until the transaction ends
	// and answers NOT_FOUND for an unknown session (spec 02 §15).
	LockSession(ctx context.Context, sessionID string) error
	// CheckFence answers session_lost unless executionID is the session's
	// fence. It takes the session lock if that is not held yet.
	CheckFence(ctx context.Context, sessionID, executionID string) error
}

// Reader reads committed data, or a transaction's own view.
type Reader interface {
	Session(ctx context.Context, id string) (session.Session, error)
	Sessions(ctx context.Context, limit int) ([]session.Session, error)

	// Messages in sequence order (spec 02 §16.2). A limit below 0 is
	// INVALID_VALUE; 0 gives no rows.
	Messages(ctx context.Context, sessionID string) ([]session.Message, error)
	RawMessages(ctx context.Context, sessionID string, limit int) ([]session.Message, error)
	// AllRawMessages is RawMessages without a limit.
	AllRawMessages(ctx context.Context, sessionID string) ([]session.Message, error)
	// RawMessagesAfter gives the raw rows behind a sequence number, and how far
	// all raw rows reach, so that a reader who has the others can tell whether
	// they still stand.
	RawMessagesAfter(ctx context.Context, sessionID string, seq int64) ([]session.Message, MessageSpan, error)
	// MessageTail gives the last n rows, marked ones included (n 0 to 20).
	MessageTail(ctx context.Context, sessionID string, n int) ([]session.Message, error)
	// LastTurnsMessages gives the rows of the last n turns.
	LastTurnsMessages(ctx context.Context, sessionID string, n int) ([]session.Message, error)
	MessageCounts(ctx context.Context, sessionID string) (session.MessageCounts, error)
	TurnMessages(ctx context.Context, sessionID, turnID string) ([]session.Message, error)

	Summaries(ctx context.Context, sessionID string) ([]session.Summary, error)
	CompactionState(ctx context.Context, sessionID string) (CompactionState, error)
	CompactionRun(ctx context.Context, sessionID, executionID string) (CompactionRun, bool, error)

	TurnRecord(ctx context.Context, sessionID, turnID string) (TurnRecord, error)
	TurnRecords(ctx context.Context, sessionID string, limit int) ([]TurnRecord, error)
	TurnCommit(ctx context.Context, sessionID, turnID string) (TurnCommit, bool, error)

	// Journal entries of one execution: plan, results, recorded answers.
	JournalEntry(ctx context.Context, sessionID, executionID, kind, key string) (JournalEntry, bool, error)
	JournalEntries(ctx context.Context, sessionID, executionID, kind string) ([]JournalEntry, error)

	// Transcript gives entries [from, to) of a run, in order.
	Transcript(ctx context.Context, runID string, from, to int) ([]TranscriptEntry, error)
	Blobs(ctx context.Context, hashes []string) (map[string][]byte, error)

	PluginDatum(ctx context.Context, sessionID, pluginID, namespace, key string) (session.PluginDatum, error)
	PluginData(ctx context.Context, sessionID, pluginID, namespace, after string, limit int) ([]session.PluginDatum, error)
	// ProjectPluginData gives the bounded view of spec 02 §19; limit 0 is 50.
	ProjectPluginData(ctx context.Context, sessionID, pluginID, namespace string, limit int) (session.DataProjection, error)

	Characters(ctx context.Context, sessionID string) ([]session.Character, error)
	Lorebook(ctx context.Context, sessionID string) ([]session.LoreEntry, error)
	LatestPlayerInput(ctx context.Context, sessionID string) (session.PlayerInput, bool, error)

	Suspension(ctx context.Context, id string) (session.Suspension, error)
	Suspensions(ctx context.Context, sessionID string) ([]session.Suspension, error)

	// Export gives the newest committed value at or before an instant.
	Export(ctx context.Context, sessionID, exportKey string, at time.Time) (Export, bool, error)
	Outbox(ctx context.Context, sessionID, executionID string) ([]OutboxEntry, error)

	// TraceEvents in creation order, then sequence; typ "" means all types,
	// turnID "" all turns, sessionID "" all sessions.
	TraceEvents(ctx context.Context, sessionID, turnID, typ string) ([]TraceEvent, error)
	// StreamChunks gives a stream's chunks with seq > after, in order.
	StreamChunks(ctx context.Context, key StreamKey, after int64) ([]StreamChunk, error)
	// Streams lists the streams of a turn.
	Streams(ctx context.Context, sessionID, turnID string) ([]StreamKey, error)
	AbortRequested(ctx context.Context, sessionID, executionID string) (bool, error)

	Media(ctx context.Context, sessionID, sha256 string) (MediaAsset, []byte, error)

	AccessReader
	ProjectionReader
	SnapshotReader
}

// Writer writes inside a transaction. Every write of a session checks that the
// session exists, else NOT_FOUND (spec 02 §13).
type Writer interface {
	InsertSession(ctx context.Context, s session.Session) error
	// UpdateSession writes every member but fence and message sequence.
	UpdateSession(ctx context.Context, s session.Session) error
	SetFence(ctx context.Context, sessionID, executionID string) error
	// DeleteSession removes the rows of every table with a session_id (spec 02 §23).
	DeleteSession(ctx context.Context, sessionID string) error

	// AppendMessages assigns sequence numbers and gives the stored rows.
	AppendMessages(ctx context.Context, sessionID string, rows []session.Message) ([]session.Message, error)
	// MarkMessages sets the mark of exactly the given raw rows, else MARK_MISMATCH.
	MarkMessages(ctx context.Context, sessionID string, ids []string, summaryID string) error
	// RemarkMessages moves every row marked with one of from to summaryID.
	RemarkMessages(ctx context.Context, sessionID string, from []string, summaryID string) error

	InsertSummary(ctx context.Context, s session.Summary) error
	UpdateSummary(ctx context.Context, s session.Summary) error
	DeleteSummaries(ctx context.Context, sessionID string, ids []string) error
	DeleteAllSummaries(ctx context.Context, sessionID string) error
	PutCompactionState(ctx context.Context, s CompactionState) error
	InsertCompactionRun(ctx context.Context, r CompactionRun) error

	// PutTurnRecord inserts or replaces the record of a turn.
	PutTurnRecord(ctx context.Context, r TurnRecord) error
	// InsertTurnCommit answers (stored, true) when the same execution has
	// committed already and TURN_ALREADY_COMMITTED for another one.
	InsertTurnCommit(ctx context.Context, c TurnCommit) (TurnCommit, bool, error)
	// PutJournal stores an entry once: a repeat changes nothing and gives the
	// stored entry with false.
	PutJournal(ctx context.Context, e JournalEntry) (JournalEntry, bool, error)
	RequestAbort(ctx context.Context, sessionID, executionID string) error

	PutBlobs(ctx context.Context, blobs map[string][]byte) error
	// AppendTranscript stores an entry at its seq once: a repeat changes
	// nothing and gives the stored entry with false.
	AppendTranscript(ctx context.Context, e TranscriptEntry) (TranscriptEntry, bool, error)

	PutPluginData(ctx context.Context, rows ...session.PluginDatum) error
	DeletePluginData(ctx context.Context, sessionID, pluginID, namespace, key string) error
	CompareAndSetPluginData(ctx context.Context, sessionID, pluginID string, batch []CompareAndSet) error

	PutCharacters(ctx context.Context, rows ...session.Character) error
	PutLore(ctx context.Context, rows ...session.LoreEntry) error
	// InsertPlayerInput stores a form; seq 0 takes the session's next.
	InsertPlayerInput(ctx context.Context, in session.PlayerInput) error

	SaveSuspension(ctx context.Context, s session.Suspension) error
	// ClaimSuspension cancels a continuation whose deadline has come and answers
	// CONTINUATION_CLOSED; commit the transaction to keep that.
	ClaimSuspension(ctx context.Context, id, token string, now time.Time) error
	ReleaseSuspension(ctx context.Context, id, token string) error
	ResolveSuspension(ctx context.Context, id, token string, now time.Time) error
	CancelSuspension(ctx context.Context, id, reason string, now time.Time) error

	InsertExport(ctx context.Context, e Export) error
	InsertOutbox(ctx context.Context, e OutboxEntry) error
	MarkOutboxSent(ctx context.Context, sessionID, executionID string, seq int, now time.Time) error

	// InsertTrace assigns the next seq of (session, trace); a used id changes
	// nothing and gives the stored seq.
	InsertTrace(ctx context.Context, e TraceEvent) (int64, error)
	AppendChunk(ctx context.Context, c StreamChunk) error

	PutMedia(ctx context.Context, ref MediaRef, mime string, data []byte) (MediaAsset, error)
	RemoveMediaRef(ctx context.Context, sessionID, sha256, pluginID string) error
	// Sweep removes what is past its time, at most 1,000 rows a call, and says
	// how many rows went (spec 02 §20, §23).
	Sweep(ctx context.Context, now time.Time, traceRetention time.Duration) (int, error)

	AccessWriter
	ProjectionWriter
	SnapshotWriter
}

// Notifier wakes waiting processes; it carries no data that matters, the rows do.
type Notifier interface {
	// Notify wakes the listeners of a topic, here and in other processes.
	Notify(ctx context.Context, topic string) error
	// Listen gives a channel that gets a value after each Notify of the topic
	// (several may fold into one) until ctx ends.
	Listen(ctx context.Context, topic string) <-chan struct{}
}

// MessageSpan says how far a session's raw rows reach; the sequence numbers are
// 0 when there is none.
type MessageSpan struct {
	Count       int
	First, Last int64
}

// CompactionState counts failures of one session (spec 02 §9.2, §9.3).
type CompactionState struct {
	SessionID           string
	ConsecutiveFailures int
	OversizedRowID      string
	UpdatedAt           time.Time
}

// CompactionRun is the stored outcome of one attempt (spec 02 §4.9).
type CompactionRun struct {
	SessionID   string
	ExecutionID string
	TurnID      string
	Outcome     string
	Reason      string
	SummaryIDs  []string
	CreatedAt   time.Time
}

// TurnRecord is the stored record of one execution (spec 02 §14 turn_results,
// spec 03 §1.4). The JSON members are kept byte for byte.
type TurnRecord struct {
	ID               string
	SessionID        string
	TurnID           string
	ExecutionID      string
	InputHash        string
	Origin           string
	ExecutionContext json.RawMessage
	PlayerMessage    string
	Error            json.RawMessage
	RuntimeResults   json.RawMessage
	Conflicts        json.RawMessage
	DurationMs       int64
	ParentTurnID     string
	CommitStatus     string // pending, committed or failed
	LogicalTurn      int
	CreatedAt        time.Time
}

// TurnCommit makes a commit idempotent (spec 02 §16.3).
type TurnCommit struct {
	SessionID   string
	TurnID      string
	ExecutionID string
	CountPolicy string
	Result      json.RawMessage
	CommittedAt time.Time
}

// JournalEntry is one recorded fact of an execution, stored once.
type JournalEntry struct {
	SessionID   string
	ExecutionID string
	Kind        string // plan, result, tool, function, guard, hook
	Key         string
	Payload     json.RawMessage
	CreatedAt   time.Time
}

// TranscriptEntry is one entry of a run (spec 02 §14 transcripts). Content
// rides along and is stored once under its hash in blobs.
type TranscriptEntry struct {
	RunID       string
	Seq         int
	SessionID   string
	TurnID      string
	Role        string
	ContentHash string
	Content     []byte
	CreatedAt   time.Time
}

// CompareAndSet is one entry of a batch (spec 02 §19). Expected nil means that
// the key must be absent.
type CompareAndSet struct {
	Namespace string
	Key       string
	Expected  *int64
	Value     json.RawMessage
}

// Export is one committed recordAs value (spec 02 §14 exports).
type Export struct {
	ID          string
	SessionID   string
	PluginID    string
	RuntimeID   string
	ExportKey   string
	TurnID      string
	Value       json.RawMessage
	CommittedAt time.Time
}

// OutboxEntry is one job or notification that the commit queued.
type OutboxEntry struct {
	SessionID   string
	ExecutionID string
	Seq         int
	Kind        string
	Payload     json.RawMessage
	CreatedAt   time.Time
	SentAt      *time.Time
}

// TraceEvent is one trace row (spec 02 §18).
type TraceEvent struct {
	ID        string
	SessionID string
	TraceID   string
	TurnID    string
	Seq       int64
	Type      string
	Payload   json.RawMessage
	CreatedAt time.Time
}

// StreamKey names one runtime's stream of one turn (spec 02 §20).
type StreamKey struct {
	SessionID string
	TurnID    string
	RuntimeID string
}

// StreamChunk is one stored piece of a stream. Kind is text, reasoning, reset
// or end; Seq counts 0, 1, 2, … per stream.
type StreamChunk struct {
	StreamKey
	Seq       int64
	Attempt   int
	Kind      string
	Text      string
	CreatedAt time.Time
}

// MediaAsset is one stored file (spec 02 §21).
type MediaAsset struct {
	SHA256    string
	Mime      string
	SizeBytes int64
	CreatedAt time.Time
}

// MediaRef ties an asset to a session and plugin.
type MediaRef struct {
	SessionID string
	PluginID  string
	Meta      json.RawMessage
	CreatedAt time.Time
}
