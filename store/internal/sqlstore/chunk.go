package sqlstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/covel-engine/covel/store"
)

const chunkTable = "stream_chunks"

func scanChunk(r Row, c *store.StreamChunk) error {
	return r.Scan(&c.SessionID, &c.TurnID, &c.RuntimeID, &c.Seq, &c.Attempt, &c.Kind, &c.Text, at(&c.CreatedAt))
}

func streamArgs(c Conn, op string, k store.StreamKey) *args {
	return newArgs(c, op, chunkTable).ref("session_id", k.SessionID).ref("turn_id", k.TurnID).ref("runtime_id", k.RuntimeID)
}

// StreamChunks gives the chunks with a seq above after; -1 gives all.
func (r Reads) StreamChunks(ctx context.Context, key store.StreamKey, after int64) ([]store.StreamChunk, error) {
	return many(ctx, r.Conn, "chunk_list", streamArgs(r.Conn, "read stream", key).int(after), scanChunk)
}

// Streams lists the streams of a turn by runtime id.
func (r Reads) Streams(ctx context.Context, sessionID, turnID string) ([]store.StreamKey, error) {
	a := newArgs(r.Conn, "list streams", chunkTable).ref("session_id", sessionID).ref("turn_id", turnID)
	return many(ctx, r.Conn, "stream_list", a, func(row Row, k *store.StreamKey) error {
		return row.Scan(&k.SessionID, &k.TurnID, &k.RuntimeID)
	})
}

// AppendChunk appends the next chunk of a stream; a repeat changes nothing.
func (t *Tx) AppendChunk(ctx context.Context, c store.StreamChunk) error {
	const op = "append chunk"
	if err := t.pin(ctx, op, c.SessionID); err != nil {
		return err
	}
	switch c.Kind {
	case "text", "reasoning", "reset", "end":
	default:
		return invalid(op, chunkTable, c.RuntimeID, c.Kind, "kind must be text, reasoning, reset or end")
	}
	name := "covel:stream:" + c.SessionID + "\x00" + c.TurnID + "\x00" + c.RuntimeID
	if err := t.lock(ctx, op, chunkTable, name); err != nil {
		return err
	}
	last := store.StreamChunk{Seq: -1}
	err := one(ctx, t.conn, "chunk_last", streamArgs(t.conn, op, c.StreamKey), func(row Row) error { return scanChunk(row, &last) })
	if err != nil && !errors.Is(err, errNoRow) {
		return err
	}
	refuse := func(code, why string) error {
		return &store.Error{
			Code: code, Op: op, Table: chunkTable, ID: c.SessionID + "/" + c.TurnID + "/" + c.RuntimeID,
			Value: strconv.FormatInt(c.Seq, 10), Err: errors.New(why),
		}
	}
	if c.Seq >= 0 && c.Seq <= last.Seq {
		same, err := t.sameChunk(ctx, op, c)
		if err != nil || same {
			return err
		}
	}
	switch {
	case c.Attempt < last.Attempt:
		return refuse(store.CodeStaleAttempt, "attempt "+strconv.Itoa(c.Attempt)+" is below "+strconv.Itoa(last.Attempt))
	case c.Seq >= 0 && c.Seq <= last.Seq:
		return refuse(store.CodeChunkConflict, "the stored chunk differs")
	case last.Kind == "end":
		return refuse(store.CodeStreamClosed, "the stream has ended")
	case c.Seq != last.Seq+1:
		return refuse(store.CodeChunkGap, "the next seq is "+strconv.FormatInt(last.Seq+1, 10))
	}
	a := newArgs(t.conn, op, chunkTable).id("session_id", c.SessionID).id("turn_id", c.TurnID).id("runtime_id", c.RuntimeID).
		int(c.Seq).int(int64(c.Attempt)).text("kind", c.Kind).text("text", c.Text).time("created_at", t.stamp(c.CreatedAt))
	_, err = exec(ctx, t.conn, "chunk_insert", a)
	return err
}

func (t *Tx) sameChunk(ctx context.Context, op string, c store.StreamChunk) (bool, error) {
	var stored store.StreamChunk
	err := one(ctx, t.conn, "chunk_get", streamArgs(t.conn, op, c.StreamKey).int(c.Seq), func(row Row) error {
		return scanChunk(row, &stored)
	})
	if errors.Is(err, errNoRow) {
		return false, nil
	}
	return stored.Attempt == c.Attempt && stored.Kind == c.Kind && stored.Text == c.Text, err
}
