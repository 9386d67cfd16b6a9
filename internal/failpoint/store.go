package failpoint

import (
	"context"

	"github.com/covel-engine/covel/store"
)

// Store gives the store with the point inside its transactions.
func (p *Point) Store(st store.Store) store.Store {
	if p.Where != InTx {
		return st
	}
	return &txStore{Store: st, point: p}
}

type txStore struct {
	store.Store
	point *Point
}

// WithTx stops between fn's last write and the end of the transaction.
func (s *txStore) WithTx(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	return s.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if name, ok := ctx.Value(activityKey{}).(string); ok {
			s.point.hit(name, InTx)
		}
		return nil
	})
}
