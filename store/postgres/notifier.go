package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/covel-engine/covel/store/internal/sqlstore"
)

const (
	channel = "covel"
	// maxTopic keeps a notice well below PostgreSQL's 8,000 bytes.
	maxTopic = 512
	// reconnectPause is how long a listener waits after a lost connection.
	reconnectPause = 200 * time.Millisecond
)

// notifier has one listening connection of its own, opened with the first
// listener.
type notifier struct {
	hub  *sqlstore.Hub
	pool *pool

	start sync.Once
	stop  context.CancelFunc
	ctx   context.Context
	done  sync.WaitGroup
}

func newNotifier(p *pool) *notifier {
	ctx, stop := context.WithCancel(context.Background())
	return &notifier{hub: sqlstore.NewHub(), pool: p, ctx: ctx, stop: stop}
}

// wire is a topic as it travels.
func wire(topic string) string {
	if len(topic) <= maxTopic {
		return topic
	}
	sum := sha256.Sum256([]byte(topic))
	return hex.EncodeToString(sum[:])
}

// Notify wakes this process at once and the others through the server.
func (n *notifier) Notify(ctx context.Context, topic string) error {
	topic = wire(topic)
	n.hub.Wake(topic)
	_, err := n.pool.db.Exec(ctx, "SELECT pg_notify($1, $2)", channel, topic)
	return sqlstore.Fail(n.pool, "notify", "", err)
}

// Listen begins before it returns for notices of this process; notices of
// others count from the moment the listening connection stands, and one value
// is given then, so that nothing in between is missed.
func (n *notifier) Listen(ctx context.Context, topic string) <-chan struct{} {
	ch := n.hub.Listen(ctx, wire(topic))
	n.start.Do(func() {
		n.done.Add(1)
		go n.run()
	})
	return ch
}

func (n *notifier) run() {
	defer n.done.Done()
	for n.ctx.Err() == nil {
		n.receive()
		pause := time.NewTimer(reconnectPause)
		select {
		case <-n.ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// receive listens until the connection is lost.
func (n *notifier) receive() {
	conn, err := pgx.ConnectConfig(n.ctx, n.pool.db.Config().ConnConfig)
	if err != nil {
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(n.ctx, "LISTEN "+channel); err != nil {
		return
	}
	n.hub.WakeAll()
	for {
		notice, err := conn.WaitForNotification(n.ctx)
		if err != nil {
			return
		}
		n.hub.Wake(notice.Payload)
	}
}

func (n *notifier) close() {
	n.stop()
	// A Listen after Close must not start the connection.
	n.start.Do(func() {})
	n.done.Wait()
}
