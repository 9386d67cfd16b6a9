package store

import (
	"context"

	"github.com/covel-engine/covel/access"
)

// AccessReader reads tokens and the audit.
type AccessReader interface {
	// TokenByHash finds a token by the hash of its secret; none is NOT_FOUND.
	TokenByHash(ctx context.Context, hash string) (access.Token, error)
	// Tokens lists tokens, oldest first.
	Tokens(ctx context.Context) ([]access.Token, error)
	// Audit lists the newest entries first; subject "" means all subjects.
	Audit(ctx context.Context, subject string, limit int) ([]access.Entry, error)
}

// AccessWriter writes them. They belong to no session and outlive all.
type AccessWriter interface {
	// InsertToken stores a token; a used id or hash is ALREADY_EXISTS.
	InsertToken(ctx context.Context, t access.Token) error
	// DeleteToken revokes a token; none is NOT_FOUND.
	DeleteToken(ctx context.Context, id string) error
	InsertAudit(ctx context.Context, e access.Entry) error
}
