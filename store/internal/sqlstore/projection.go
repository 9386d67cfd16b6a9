package sqlstore

import (
	"context"

	"github.com/covel-engine/covel/store"
)

const (
	outputTable      = "runtime_outputs"
	eventTable       = "events"
	mirrorTable      = "messages"
	interactionTable = "interaction_records"
)

// RuntimeOutputs lists a turn's outputs.
func (r Reads) RuntimeOutputs(ctx context.Context, sessionID, turnID string) ([]store.RuntimeOutput, error) {
	a := newArgs(r.Conn, "read runtime outputs", outputTable).ref("session_id", sessionID).ref("turn_id", turnID)
	return many(ctx, r.Conn, "runtime_output_list", a, func(row Row, o *store.RuntimeOutput) error {
		return row.Scan(&o.ID, &o.SessionID, &o.TurnID, &o.RuntimeResultID, &o.PluginID, &o.RuntimeID, at(&o.Timestamp),
			raw(&o.Results), raw(&o.MetaData), at(&o.CreatedAt))
	})
}

// InsertRuntimeOutput stores a runtime's output.
func (t *Tx) InsertRuntimeOutput(ctx context.Context, o store.RuntimeOutput) error {
	const op = "insert runtime output"
	a := newArgs(t.conn, op, outputTable).id("id", o.ID).id("session_id", o.SessionID).ref("turn_id", o.TurnID).
		ref("runtime_result_id", o.RuntimeResultID).ref("plugin_id", o.PluginID).ref("runtime_id", o.RuntimeID).
		time("timestamp", t.stamp(o.Timestamp)).json("results", o.Results).json("meta_data", o.MetaData).
		time("created_at", t.stamp(o.CreatedAt))
	return t.insertNew(ctx, "runtime_output_insert", o.SessionID, o.ID, a)
}

// insertNew stores a row of a session whose id must be new.
func (t *Tx) insertNew(ctx context.Context, query, sessionID, id string, a *args) error {
	if err := t.pin(ctx, a.op, sessionID); err != nil {
		return err
	}
	n, err := exec(ctx, t.conn, query, a)
	if err == nil && n == 0 {
		return alreadyExists(a.op, a.table, id)
	}
	return err
}

// Events lists a session's events.
func (r Reads) Events(ctx context.Context, sessionID, topic string) ([]store.Event, error) {
	a := newArgs(r.Conn, "read events", eventTable).ref("session_id", sessionID).ref("topic", topic)
	return many(ctx, r.Conn, "event_list", a, func(row Row, e *store.Event) error {
		return row.Scan(&e.ID, &e.SessionID, &e.Type, &e.Topic, raw(&e.Payload), &e.TargetRuntime, &e.TurnID, at(&e.CreatedAt))
	})
}

// InsertEvent stores an event.
func (t *Tx) InsertEvent(ctx context.Context, e store.Event) error {
	const op = "insert event"
	a := newArgs(t.conn, op, eventTable).id("id", e.ID).id("session_id", e.SessionID).ref("type", e.Type).ref("topic", e.Topic).
		json("payload", e.Payload).ref("target_runtime", e.TargetRuntime).ref("turn_id", e.TurnID).
		time("created_at", t.stamp(e.CreatedAt))
	return t.insertNew(ctx, "event_insert", e.SessionID, e.ID, a)
}

// MirrorMessages lists the interface's chat.
func (r Reads) MirrorMessages(ctx context.Context, sessionID string) ([]store.MirrorMessage, error) {
	a := newArgs(r.Conn, "read mirror messages", mirrorTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "mirror_list", a, func(row Row, m *store.MirrorMessage) error {
		return row.Scan(&m.ID, &m.SessionID, &m.Role, &m.Content, raw(&m.Metadata), at(&m.CreatedAt))
	})
}

// InsertMirrorMessage stores a line of the interface's chat.
func (t *Tx) InsertMirrorMessage(ctx context.Context, m store.MirrorMessage) error {
	const op = "insert mirror message"
	a := newArgs(t.conn, op, mirrorTable).id("id", m.ID).id("session_id", m.SessionID).text("role", m.Role).
		text("content", m.Content).json("metadata", m.Metadata).time("created_at", t.stamp(m.CreatedAt))
	return t.insertNew(ctx, "mirror_insert", m.SessionID, m.ID, a)
}

// Interactions lists a session's interaction records.
func (r Reads) Interactions(ctx context.Context, sessionID, typ string) ([]store.Interaction, error) {
	a := newArgs(r.Conn, "read interactions", interactionTable).ref("session_id", sessionID).ref("type", typ)
	return many(ctx, r.Conn, "interaction_list", a, func(row Row, i *store.Interaction) error {
		return row.Scan(&i.ID, &i.SessionID, &i.TurnID, at(&i.Timestamp), &i.Source, &i.Channel, &i.Type,
			decoded{&i.TargetIDs}, raw(&i.Payload), raw(&i.MetaData), at(&i.CreatedAt))
	})
}

// InsertInteraction stores an interaction record.
func (t *Tx) InsertInteraction(ctx context.Context, i store.Interaction) error {
	const op = "insert interaction"
	a := newArgs(t.conn, op, interactionTable).id("id", i.ID).id("session_id", i.SessionID).ref("turn_id", i.TurnID).
		time("timestamp", t.stamp(i.Timestamp)).text("source", i.Source).text("channel", i.Channel).ref("type", i.Type).
		texts("target_ids", i.TargetIDs).json("payload", i.Payload).json("meta_data", i.MetaData).
		time("created_at", t.stamp(i.CreatedAt))
	return t.insertNew(ctx, "interaction_insert", i.SessionID, i.ID, a)
}
