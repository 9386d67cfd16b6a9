package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/covel-engine/covel/store"
)

const (
	snapshotsTable = "snapshots"
	// keptAuto is how many automatic snapshots a session keeps.
	keptAuto = 20
	// marksMember maps captured rows to their summaries.
	marksMember = "compactedMessageSummaryIds"
)

func scanSnapshotHead(r Row, s *store.Snapshot) error {
	return r.Scan(&s.ID, &s.SessionID, &s.Kind, &s.PlayerTurnCount, &s.Version, at(&s.CreatedAt))
}

// Snapshots lists a session's snapshots, newest first, without payloads.
func (r Reads) Snapshots(ctx context.Context, sessionID string) ([]store.Snapshot, error) {
	a := newArgs(r.Conn, "list snapshots", snapshotsTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "snapshot_list", a, scanSnapshotHead)
}

// Snapshot reads one snapshot.
func (r Reads) Snapshot(ctx context.Context, sessionID, id string) (store.Snapshot, error) {
	const op = "read snapshot"
	var s store.Snapshot
	a := newArgs(r.Conn, op, snapshotsTable).ref("session_id", sessionID).ref("id", id)
	err := one(ctx, r.Conn, "snapshot_get", a, func(row Row) error {
		return row.Scan(&s.ID, &s.SessionID, &s.Kind, &s.PlayerTurnCount, &s.Version, raw(&s.Payload), at(&s.CreatedAt))
	})
	if errors.Is(err, errNoRow) {
		return store.Snapshot{}, notFound(op, snapshotsTable, id)
	}
	return s, err
}

// TakeSnapshot captures the session as this transaction sees it.
func (t *Tx) TakeSnapshot(ctx context.Context, sessionID, id, kind string, now time.Time) (store.Snapshot, error) {
	const op = "take snapshot"
	if err := t.LockSession(ctx, sessionID); err != nil {
		return store.Snapshot{}, err
	}
	s, err := t.Session(ctx, sessionID)
	if err != nil {
		return store.Snapshot{}, err
	}
	payload := map[string]any{"version": store.SnapshotVersion}
	for _, table := range append([]snapshotTable{sessionSnapshot}, snapshotTables...) {
		cols := table.cols()
		a := newArgs(t.conn, op, table.table).id("session_id", sessionID)
		rows, err := many(ctx, t.conn, "snapshot_read_"+table.table, a, func(r Row, row *snapshotRow) error {
			return scanSnapshot(r, cols, row)
		})
		if err != nil {
			return store.Snapshot{}, err
		}
		if rows == nil {
			rows = []snapshotRow{}
		}
		payload[table.member] = rows
	}
	marks, err := t.marks(ctx, op, sessionID)
	if err != nil {
		return store.Snapshot{}, err
	}
	payload[marksMember] = marks
	encoded, err := json.Marshal(payload)
	if err != nil {
		return store.Snapshot{}, err
	}
	snap := store.Snapshot{
		ID: id, SessionID: sessionID, Kind: kind, PlayerTurnCount: s.CompletedPlayerTurns, Version: store.SnapshotVersion,
		Payload: encoded, CreatedAt: Instant(now),
	}
	return snap, t.putSnapshot(ctx, op, snap)
}

func (t *Tx) marks(ctx context.Context, op, sessionID string) (map[string]string, error) {
	type mark struct{ row, summary string }
	list, err := many(ctx, t.conn, "snapshot_marks", newArgs(t.conn, op, messageTable).id("session_id", sessionID),
		func(r Row, m *mark) error { return r.Scan(&m.row, &m.summary) })
	marks := make(map[string]string, len(list))
	for _, m := range list {
		marks[m.row] = m.summary
	}
	return marks, err
}

// PutSnapshot stores a payload from elsewhere.
func (t *Tx) PutSnapshot(ctx context.Context, s store.Snapshot) error {
	const op = "put snapshot"
	if err := t.LockSession(ctx, s.SessionID); err != nil {
		return err
	}
	return t.putSnapshot(ctx, op, s)
}

func (t *Tx) putSnapshot(ctx context.Context, op string, s store.Snapshot) error {
	if s.Kind != store.SnapshotAuto && s.Kind != store.SnapshotManual {
		return invalid(op, snapshotsTable, s.ID, s.Kind, "kind must be auto or manual")
	}
	if _, err := decodeSnapshot(op, s); err != nil {
		return err
	}
	if s.Kind == store.SnapshotAuto {
		a := newArgs(t.conn, op, snapshotsTable).id("session_id", s.SessionID).int(int64(s.PlayerTurnCount))
		if _, err := exec(ctx, t.conn, "snapshot_delete_auto", a); err != nil {
			return err
		}
	}
	a := newArgs(t.conn, op, snapshotsTable).id("id", s.ID).id("session_id", s.SessionID).text("kind", s.Kind).
		int(int64(s.PlayerTurnCount)).int(int64(s.Version)).needJSON("payload", s.Payload).time("created_at", t.stamp(s.CreatedAt))
	if err := t.insertNew(ctx, "snapshot_insert", s.SessionID, s.ID, a); err != nil || s.Kind != store.SnapshotAuto {
		return err
	}
	_, err := exec(ctx, t.conn, "snapshot_trim_auto", newArgs(t.conn, op, snapshotsTable).id("session_id", s.SessionID).limit(keptAuto))
	return err
}

// snapshotPayload is a decoded payload, checked for its own consistency.
type snapshotPayload struct {
	tables map[string][]snapshotRow
	marks  map[string]string
}

func decodeSnapshot(op string, s store.Snapshot) (snapshotPayload, error) {
	fail := func(value, why string) (snapshotPayload, error) {
		return snapshotPayload{}, invalid(op, snapshotsTable, s.ID, value, why)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(s.Payload, &members); err != nil {
		return fail("payload", err.Error())
	}
	var version int
	if err := json.Unmarshal(members["version"], &version); err != nil || version != store.SnapshotVersion || s.Version != version {
		return fail(strconv.Itoa(s.Version), fmt.Sprintf("payload version %s is not %d", members["version"], store.SnapshotVersion))
	}
	p := snapshotPayload{tables: map[string][]snapshotRow{}}
	for _, table := range append([]snapshotTable{sessionSnapshot}, snapshotTables...) {
		var rows []snapshotRow
		// Numbers stay text: a float cannot hold every sequence number.
		d := json.NewDecoder(bytes.NewReader(members[table.member]))
		d.UseNumber()
		if err := d.Decode(&rows); err != nil {
			return fail(table.member, "the payload has no list of that name: "+err.Error())
		}
		p.tables[table.table] = rows
	}
	if err := json.Unmarshal(members[marksMember], &p.marks); err != nil {
		return fail(marksMember, err.Error())
	}
	if len(p.tables["sessions"]) != 1 || p.tables["sessions"][0]["id"] != s.SessionID {
		return fail("session", "the payload is not one of this session")
	}
	return p, p.checkMarks(op)
}

// checkMarks finds a mark whose row or summary was not captured.
func (p snapshotPayload) checkMarks(op string) error {
	known := map[any]bool{}
	for _, row := range p.tables[summaryTable] {
		known[row["id"]] = true
	}
	rows := make([]string, 0, len(p.marks))
	for row := range p.marks {
		rows = append(rows, row)
	}
	slices.Sort(rows) // the same row is named every time
	for _, row := range rows {
		if summary := p.marks[row]; !known[summary] {
			return invalid(op, messageTable, row, summary, "row "+row+" is marked with summary "+summary+", which is not in the snapshot")
		}
	}
	return nil
}

// RestoreSnapshot replaces the captured tables' rows of the session. Trace,
// transcripts, journal, streams, media, jobs and logs stay as they are.
func (t *Tx) RestoreSnapshot(ctx context.Context, sessionID, id string) error {
	const op = "restore snapshot"
	if err := t.LockSession(ctx, sessionID); err != nil {
		return err
	}
	s, err := t.Snapshot(ctx, sessionID, id)
	if err != nil {
		return err
	}
	p, err := decodeSnapshot(op, s)
	if err != nil {
		return err
	}
	// A payload may come from outside: no row of it may belong elsewhere.
	for table, rows := range p.tables {
		for _, row := range rows {
			if owner, ok := row["session_id"]; table != "sessions" && (!ok || owner != sessionID) {
				return &store.Error{Code: store.CodeForeignID, Op: op, Table: table, ID: fmt.Sprint(row["id"]), Value: fmt.Sprint(owner)}
			}
		}
	}
	a := p.tables["sessions"][0].bind(newArgs(t.conn, op, "sessions"), sessionSnapshot.cols())
	if _, err := exec(ctx, t.conn, "snapshot_restore_session", a); err != nil {
		return err
	}
	for _, table := range snapshotTables {
		if err := t.restoreTable(ctx, op, sessionID, table, p.tables[table.table]); err != nil {
			return err
		}
	}
	return t.restoreMarks(ctx, op, sessionID, p.marks)
}

func (t *Tx) restoreTable(ctx context.Context, op, sessionID string, table snapshotTable, rows []snapshotRow) error {
	clear := "delete_from_" + table.table
	if table.table == dataTable {
		clear = "snapshot_clear_plugin_data"
	}
	if _, err := exec(ctx, t.conn, clear, newArgs(t.conn, op, table.table).id("session_id", sessionID)); err != nil {
		return err
	}
	cols := table.cols()
	for _, row := range rows {
		if _, err := exec(ctx, t.conn, "snapshot_write_"+table.table, row.bind(newArgs(t.conn, op, table.table), cols)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) restoreMarks(ctx context.Context, op, sessionID string, marks map[string]string) error {
	bySummary := map[string][]string{}
	for row, summary := range marks {
		bySummary[summary] = append(bySummary[summary], row)
	}
	for summary, rows := range bySummary {
		if err := t.MarkMessages(ctx, sessionID, rows, summary); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}

// DeleteSnapshot removes one snapshot.
func (t *Tx) DeleteSnapshot(ctx context.Context, sessionID, id string) error {
	const op = "delete snapshot"
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	n, err := exec(ctx, t.conn, "snapshot_delete", newArgs(t.conn, op, snapshotsTable).id("session_id", sessionID).id("id", id))
	if err == nil && n == 0 {
		return notFound(op, snapshotsTable, id)
	}
	return err
}
