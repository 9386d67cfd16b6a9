package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/covel-engine/covel/store"
)

// Reads implements store.Reader over a Conn.
type Reads struct {
	Conn Conn
}

// Tx implements store.Tx over the connection of one open transaction.
type Tx struct {
	Reads
	conn TxConn
	now  func() time.Time
	// pinned holds the sessions known to exist until the transaction ends,
	// held the names of the locks taken (true: alone, false: shared).
	pinned map[string]bool
	held   map[string]bool
	depth  int
}

var _ store.Tx = (*Tx)(nil)

// NewTx wraps an open transaction. The clock fills times that a caller left
// zero and stamps the rows of calls that carry none.
func NewTx(conn TxConn, now func() time.Time) *Tx {
	return &Tx{Reads: Reads{Conn: conn}, conn: conn, now: now, pinned: map[string]bool{}, held: map[string]bool{}}
}

type txKey struct{ owner any }

// MarkTx marks a context as being inside a transaction of owner.
func MarkTx(ctx context.Context, owner any) context.Context {
	return context.WithValue(ctx, txKey{owner}, true)
}

// RefuseNested answers NESTED_TRANSACTION inside a transaction of owner.
func RefuseNested(ctx context.Context, owner any) error {
	if ctx.Value(txKey{owner}) == nil {
		return nil
	}
	return &store.Error{Code: store.CodeNestedTransaction, Op: "begin transaction"}
}

// Savepoint undoes just fn's writes when fn fails.
func (t *Tx) Savepoint(ctx context.Context, fn func(ctx context.Context) error) error {
	const op = "savepoint"
	name := fmt.Sprintf("covel_%d", t.depth)
	if err := t.conn.Control(ctx, "SAVEPOINT "+name); err != nil {
		return Fail(t.conn, op, "", err)
	}
	// A rollback to the savepoint frees the locks taken since.
	pinned, held := maps.Clone(t.pinned), maps.Clone(t.held)
	t.depth++
	failed := fn(ctx)
	t.depth--
	if failed == nil {
		return Fail(t.conn, op, "", t.conn.Control(ctx, "RELEASE SAVEPOINT "+name))
	}
	t.pinned, t.held = pinned, held
	// The undo must happen although ctx may have ended meanwhile.
	undo := context.WithoutCancel(ctx)
	if err := t.conn.Control(undo, "ROLLBACK TO SAVEPOINT "+name); err != nil {
		return errors.Join(failed, Fail(t.conn, op, "", err))
	}
	if err := t.conn.Control(undo, "RELEASE SAVEPOINT "+name); err != nil {
		return errors.Join(failed, Fail(t.conn, op, "", err))
	}
	return failed
}

// LockSession takes the session lock (spec 02 §15.3).
func (t *Tx) LockSession(ctx context.Context, sessionID string) error {
	const op = "lock session"
	if _, err := newArgs(t.conn, op, "sessions").id("id", sessionID).done(); err != nil {
		return err
	}
	if err := t.lock(ctx, op, "sessions", "covel:session:"+sessionID); err != nil {
		return err
	}
	return t.pin(ctx, op, sessionID)
}

// lock holds a named lock alone until the transaction ends.
func (t *Tx) lock(ctx context.Context, op, table, name string) error {
	if t.held[name] {
		return nil
	}
	if err := t.conn.Lock(ctx, name); err != nil {
		return Fail(t.conn, op, table, err)
	}
	t.held[name] = true
	return nil
}

// share holds a named lock beside other sharers.
func (t *Tx) share(ctx context.Context, op, table, name string) error {
	if _, ok := t.held[name]; ok {
		return nil
	}
	if err := t.conn.LockShared(ctx, name); err != nil {
		return Fail(t.conn, op, table, err)
	}
	t.held[name] = false
	return nil
}

// CheckFence compares the fence; it takes the session lock when it is not held.
func (t *Tx) CheckFence(ctx context.Context, sessionID, executionID string) error {
	const op = "check fence"
	if err := t.LockSession(ctx, sessionID); err != nil {
		return err
	}
	var fence string
	err := one(ctx, t.conn, "session_fence", newArgs(t.conn, op, "sessions").id("id", sessionID), func(r Row) error {
		return r.Scan(&fence)
	})
	if errors.Is(err, errNoRow) {
		return notFound(op, "sessions", sessionID)
	}
	if err != nil {
		return err
	}
	if fence != executionID || executionID == "" {
		return &store.Error{
			Code: store.CodeSessionLost, Op: op, Table: "sessions", ID: sessionID, Value: executionID,
			Err: fmt.Errorf("the session is owned by execution %q", fence),
		}
	}
	return nil
}

// pin checks that a session exists and keeps it from being deleted until the
// transaction ends (spec 02 §13).
func (t *Tx) pin(ctx context.Context, op, sessionID string) error {
	if t.pinned[sessionID] {
		return nil
	}
	err := one(ctx, t.conn, "session_pin", newArgs(t.conn, op, "sessions").id("id", sessionID), func(r Row) error {
		var n int64
		return r.Scan(&n)
	})
	if errors.Is(err, errNoRow) {
		return notFound(op, "sessions", sessionID)
	}
	if err != nil {
		return err
	}
	t.pinned[sessionID] = true
	return nil
}

// stamp gives a time, or the store's clock for a zero one.
func (t *Tx) stamp(at time.Time) time.Time {
	if at.IsZero() {
		at = t.now()
	}
	return Instant(at)
}

func notFound(op, table, id string) error {
	return &store.Error{Code: store.CodeNotFound, Op: op, Table: table, ID: id}
}

func alreadyExists(op, table, id string) error {
	return &store.Error{Code: store.CodeAlreadyExists, Op: op, Table: table, ID: id}
}

func invalid(op, table, id, value, why string) error {
	return &store.Error{Code: store.CodeInvalidValue, Op: op, Table: table, ID: id, Value: value, Err: errors.New(why)}
}
