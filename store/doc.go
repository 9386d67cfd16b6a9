// Package store is the persistence interface of the engine. Two packages
// implement it, sqlite and postgres; storetest is the suite that both pass
// (spec 02 Part B).
//
// A Store gives a Reader over committed data and transactions. Writes exist
// only on Tx, so nothing is written outside a transaction:
//
//	err := st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
//		if err := tx.LockSession(ctx, id); err != nil {
//			return err
//		}
//		if err := tx.CheckFence(ctx, id, executionID); err != nil {
//			return err
//		}
//		return tx.PutPluginData(ctx, rows...)
//	})
//
// A transaction function calls the store with the context that it was given,
// so that a transaction inside it is refused; with another context it would
// wait for itself. It may run more than once (serialization failures,
// deadlocks), so it has no effect outside the transaction. No transaction is
// ever open over a model call.
package store
