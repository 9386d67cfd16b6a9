package store

import (
	"context"
	"encoding/json"
	"time"
)

// Kinds of snapshots and the version of their payload (spec 02 §22).
const (
	SnapshotAuto    = "auto"
	SnapshotManual  = "manual"
	SnapshotVersion = 3
)

// SnapshotReader reads snapshots.
type SnapshotReader interface {
	// Snapshots lists a session's snapshots without payloads, newest first.
	Snapshots(ctx context.Context, sessionID string) ([]Snapshot, error)
	Snapshot(ctx context.Context, sessionID, id string) (Snapshot, error)
}

// SnapshotWriter takes and restores snapshots; both take the session lock.
type SnapshotWriter interface {
	// TakeSnapshot captures the session as the transaction sees it. An auto
	// one replaces that of the same player-turn count and keeps the newest 20.
	// A mark without its summary is INVALID_VALUE naming row and summary.
	TakeSnapshot(ctx context.Context, sessionID, id, kind string, now time.Time) (Snapshot, error)
	// PutSnapshot stores a payload that was taken elsewhere, after checking it.
	PutSnapshot(ctx context.Context, s Snapshot) error
	// RestoreSnapshot puts the session back; a payload of another version is
	// INVALID_VALUE naming it.
	RestoreSnapshot(ctx context.Context, sessionID, id string) error
	DeleteSnapshot(ctx context.Context, sessionID, id string) error
}

// Snapshot is one captured state of a session.
type Snapshot struct {
	ID              string
	SessionID       string
	Kind            string
	PlayerTurnCount int
	Version         int
	Payload         json.RawMessage
	CreatedAt       time.Time
}
