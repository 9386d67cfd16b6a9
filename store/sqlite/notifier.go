package sqlite

import (
	"context"

	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// notifier works inside this process.
type notifier struct{ *sqlstore.Hub }

func newNotifier() *notifier { return &notifier{sqlstore.NewHub()} }

func (n *notifier) Notify(_ context.Context, topic string) error {
	n.Wake(topic)
	return nil
}
