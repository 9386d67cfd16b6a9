package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// maxTail is the largest tail that MessageTail gives (spec 02 §16.2).
const maxTail = 20

const messageTable = "turn_messages"

func scanMessage(r Row, m *session.Message) error {
	return r.Scan(&m.ID, &m.SessionID, &m.Seq, &m.TurnID, &m.SourceType, &m.SourcePluginID, &m.SourceRuntimeID, &m.Role,
		&m.Name, &m.Content, raw(&m.UI), raw(&m.PendingInput), raw(&m.Metadata), &m.CompactedBy, at(&m.CreatedAt))
}

// Messages gives all rows in sequence order.
func (r Reads) Messages(ctx context.Context, sessionID string) ([]session.Message, error) {
	a := newArgs(r.Conn, "read messages", messageTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "message_all", a, scanMessage)
}

// RawMessages gives the first raw rows.
func (r Reads) RawMessages(ctx context.Context, sessionID string, limit int) ([]session.Message, error) {
	a := newArgs(r.Conn, "read raw messages", messageTable).ref("session_id", sessionID).limit(limit)
	return many(ctx, r.Conn, "message_raw", a, scanMessage)
}

// AllRawMessages gives every raw row.
func (r Reads) AllRawMessages(ctx context.Context, sessionID string) ([]session.Message, error) {
	return r.RawMessages(ctx, sessionID, math.MaxInt64)
}

// RawMessagesAfter gives the raw rows behind a sequence number and the span of
// all raw rows.
func (r Reads) RawMessagesAfter(ctx context.Context, sessionID string, seq int64) ([]session.Message, store.MessageSpan, error) {
	a := newArgs(r.Conn, "read raw messages", messageTable).ref("session_id", sessionID).int(seq)
	rows, err := many(ctx, r.Conn, "message_raw_after", a, scanMessage)
	if err != nil {
		return nil, store.MessageSpan{}, err
	}
	a = newArgs(r.Conn, "measure raw messages", messageTable).ref("session_id", sessionID)
	var span store.MessageSpan
	err = one(ctx, r.Conn, "message_raw_span", a, func(row Row) error {
		return row.Scan(&span.Count, &span.First, &span.Last)
	})
	return rows, span, err
}

// MessageTail gives the last n rows in sequence order, marked ones included.
func (r Reads) MessageTail(ctx context.Context, sessionID string, n int) ([]session.Message, error) {
	const op = "read message tail"
	if n < 0 || n > maxTail {
		return nil, invalid(op, messageTable, sessionID, strconv.Itoa(n), "n must be 0 to 20")
	}
	a := newArgs(r.Conn, op, messageTable).ref("session_id", sessionID).limit(n)
	rows, err := many(ctx, r.Conn, "message_tail", a, scanMessage)
	slices.Reverse(rows)
	return rows, err
}

// LastTurnsMessages gives the rows of the n turns that wrote last.
func (r Reads) LastTurnsMessages(ctx context.Context, sessionID string, n int) ([]session.Message, error) {
	a := newArgs(r.Conn, "read messages of last turns", messageTable).ref("session_id", sessionID).limit(n)
	return many(ctx, r.Conn, "message_last_turns", a, scanMessage)
}

// TurnMessages gives the rows of one turn.
func (r Reads) TurnMessages(ctx context.Context, sessionID, turnID string) ([]session.Message, error) {
	a := newArgs(r.Conn, "read messages of turn", messageTable).ref("session_id", sessionID).ref("turn_id", turnID)
	return many(ctx, r.Conn, "message_of_turn", a, scanMessage)
}

// MessageCounts counts over the whole log.
func (r Reads) MessageCounts(ctx context.Context, sessionID string) (session.MessageCounts, error) {
	type group struct {
		source  session.SourceType
		runtime string
		n       int
	}
	a := newArgs(r.Conn, "count messages", messageTable).ref("session_id", sessionID)
	groups, err := many(ctx, r.Conn, "message_counts", a, func(row Row, g *group) error {
		return row.Scan(&g.source, &g.runtime, &g.n)
	})
	if err != nil {
		return session.MessageCounts{}, err
	}
	var c session.MessageCounts
	for _, g := range groups {
		c.Total += g.n
		if g.source == session.SourcePlayer {
			c.PlayerMessages += g.n
		}
		if g.runtime != "" {
			if c.ByRuntime == nil {
				c.ByRuntime = map[string]int{}
			}
			c.ByRuntime[g.runtime] += g.n
		}
	}
	return c, nil
}

// AppendMessages numbers and stores rows; a used id is ALREADY_EXISTS.
func (t *Tx) AppendMessages(ctx context.Context, sessionID string, rows []session.Message) ([]session.Message, error) {
	const op = "append messages"
	if len(rows) == 0 {
		return nil, t.pin(ctx, op, sessionID)
	}
	first, err := t.take(ctx, "session_take_message_seqs", op, sessionID, len(rows))
	if err != nil {
		return nil, err
	}
	stored := slices.Clone(rows)
	for i := range stored {
		m := &stored[i]
		if m.SessionID != "" && m.SessionID != sessionID {
			return nil, &store.Error{Code: store.CodeForeignID, Op: op, Table: messageTable, ID: m.ID, Value: m.SessionID}
		}
		m.SessionID, m.Seq, m.CreatedAt = sessionID, first+int64(i), t.stamp(m.CreatedAt)
		if err := t.insertMessage(ctx, op, m); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

func (t *Tx) insertMessage(ctx context.Context, op string, m *session.Message) error {
	a := newArgs(t.conn, op, messageTable).id("id", m.ID).id("session_id", m.SessionID).int(m.Seq).ref("turn_id", m.TurnID).
		text("source_type", string(m.SourceType)).ref("source_plugin_id", m.SourcePluginID).
		ref("source_runtime_id", m.SourceRuntimeID).text("role", string(m.Role)).text("name", m.Name).
		text("content", m.Content).json("ui", m.UI).json("pending_input", m.PendingInput).json("metadata", m.Metadata).
		nullable("compacted_by", m.CompactedBy).time("created_at", m.CreatedAt)
	n, err := exec(ctx, t.conn, "message_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, messageTable, m.ID)
	}
	return err
}

// MarkMessages marks exactly the given raw rows of the session.
func (t *Tx) MarkMessages(ctx context.Context, sessionID string, ids []string, summaryID string) error {
	const op = "mark messages"
	if len(ids) == 0 {
		return nil
	}
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, messageTable).id("session_id", sessionID).texts("id", ids).id("compacted_by", summaryID)
	var n int64
	err := t.Savepoint(ctx, func(ctx context.Context) (err error) {
		if n, err = exec(ctx, t.conn, "message_mark", a); err != nil || n == int64(len(ids)) {
			return err
		}
		return &store.Error{
			Code: store.CodeMarkMismatch, Op: op, Table: messageTable, ID: sessionID, Value: summaryID,
			Err: fmt.Errorf("%d of %d rows are raw rows of this session", n, len(ids)),
		}
	})
	return err
}

// RemarkMessages moves marks; an empty list changes nothing.
func (t *Tx) RemarkMessages(ctx context.Context, sessionID string, from []string, summaryID string) error {
	const op = "remark messages"
	if len(from) == 0 {
		return nil
	}
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, messageTable).id("session_id", sessionID).texts("id", from).id("compacted_by", summaryID)
	_, err := exec(ctx, t.conn, "message_remark", a)
	return err
}
