package client

import (
	"context"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/store"
)

// audit notes what the actor of ctx did. It is written before the act: an act
// without an entry must not be, an entry without its act is harmless.
func (c *Client) audit(ctx context.Context, action access.Action, subject, detail string) error {
	entry := access.Entry{
		ID: c.cfg.NewID(), At: c.cfg.Now(), Actor: access.ActorOf(ctx), Action: action, Subject: subject, Detail: detail,
	}
	err := c.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return tx.InsertAudit(ctx, entry) })
	if err != nil {
		return storeError("write the audit", err)
	}
	return nil
}
