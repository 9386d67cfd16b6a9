package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/store"
)

const tokenTable = "api_tokens"

func scanToken(r Row, t *access.Token) error {
	var expires *time.Time
	err := r.Scan(&t.ID, &t.Name, &t.Hash, &t.Tenant, decoded{&t.Worlds}, decoded{&t.Sessions}, at(&t.CreatedAt), maybeAt(&expires))
	if expires != nil {
		t.ExpiresAt = *expires
	}
	return err
}

// TokenByHash finds a token by the hash of its secret.
func (r Reads) TokenByHash(ctx context.Context, hash string) (access.Token, error) {
	const op = "find token"
	var t access.Token
	err := one(ctx, r.Conn, "token_by_hash", newArgs(r.Conn, op, tokenTable).ref("hash", hash), func(row Row) error {
		return scanToken(row, &t)
	})
	if errors.Is(err, errNoRow) {
		return t, notFound(op, tokenTable, "")
	}
	return t, err
}

// Tokens lists tokens, oldest first.
func (r Reads) Tokens(ctx context.Context) ([]access.Token, error) {
	return many(ctx, r.Conn, "token_list", newArgs(r.Conn, "list tokens", tokenTable), scanToken)
}

// InsertToken stores a token.
func (t *Tx) InsertToken(ctx context.Context, token access.Token) error {
	const op = "insert token"
	var expires *time.Time
	if !token.ExpiresAt.IsZero() {
		expires = &token.ExpiresAt
	}
	a := newArgs(t.conn, op, tokenTable).id("id", token.ID).id("name", token.Name).id("hash", token.Hash).ref("tenant", token.Tenant).
		textsOrNull("worlds", token.Worlds).textsOrNull("sessions", token.Sessions).
		time("created_at", t.stamp(token.CreatedAt)).nullTime("expires_at", expires)
	n, err := exec(ctx, t.conn, "token_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, tokenTable, token.ID)
	}
	return err
}

// DeleteToken revokes a token.
func (t *Tx) DeleteToken(ctx context.Context, id string) error {
	const op = "delete token"
	n, err := exec(ctx, t.conn, "token_delete", newArgs(t.conn, op, tokenTable).id("id", id))
	if err == nil && n == 0 {
		return notFound(op, tokenTable, id)
	}
	return err
}

// Audit lists the newest entries first.
func (r Reads) Audit(ctx context.Context, subject string, limit int) ([]access.Entry, error) {
	query, a := "audit_list", newArgs(r.Conn, "list audit", "audit_entries")
	if subject != "" {
		query = "audit_list_of"
		a.ref("subject", subject)
	}
	return many(ctx, r.Conn, query, a.limit(limit), func(row Row, e *access.Entry) error {
		return row.Scan(&e.ID, at(&e.At), &e.Actor, &e.Action, &e.Subject, &e.Detail)
	})
}

// InsertAudit stores an entry; a used id is ALREADY_EXISTS.
func (t *Tx) InsertAudit(ctx context.Context, e access.Entry) error {
	const op = "insert audit entry"
	a := newArgs(t.conn, op, "audit_entries").id("id", e.ID).time("happened_at", t.stamp(e.At)).id("actor", e.Actor).
		id("action", string(e.Action)).id("subject", e.Subject).ref("detail", e.Detail)
	n, err := exec(ctx, t.conn, "audit_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, "audit_entries", e.ID)
	}
	return err
}

var _ store.AccessReader = Reads{}
