package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// secretPrefix begins every secret, so that scanners of leaked keys know one.
const secretPrefix = "covel_"

// secretBytes is the number of random bytes of a secret.
const secretBytes = 32

// maxName bounds names, tenants and scopes, in bytes.
const maxName = 128

// Token is a stored bearer token. Empty Worlds and Sessions open every world
// and session of the tenant; an empty tenant opens every tenant.
type Token struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Hash      string    `json:"-"` // hex SHA-256 of the secret
	Tenant    string    `json:"tenant,omitempty"`
	Worlds    []string  `json:"worlds,omitempty"`
	Sessions  []string  `json:"sessions,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// ExpiresAt is zero for a token without an end.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// Request says what token is wanted.
type Request struct {
	// ID is the token's public id. Required.
	ID string
	// Name is what the audit shows. Required.
	Name string
	// Tenant owns the sessions that the token creates. Defaults to none.
	Tenant string
	// Worlds and Sessions narrow the token. Default to no limit.
	Worlds, Sessions []string
	// Now is the instant of creation. Required.
	Now time.Time
	// Lifetime ends the token. Defaults to no end.
	Lifetime time.Duration
}

// Mint makes a token and its secret, which is kept nowhere.
func Mint(r Request) (Token, string, error) {
	for _, text := range slices.Concat([]string{r.ID, r.Name}, r.Worlds, r.Sessions) {
		if strings.TrimSpace(text) == "" || len(text) > maxName {
			return Token{}, "", fmt.Errorf("token: %q is no id or name; give 1 to %d bytes", text, maxName)
		}
	}
	if len(r.Tenant) > maxName {
		return Token{}, "", fmt.Errorf("token: tenant %q is longer than %d bytes", r.Tenant, maxName)
	}
	if r.Lifetime < 0 {
		return Token{}, "", fmt.Errorf("token: lifetime %v is negative; give none for a token without an end", r.Lifetime)
	}
	random := make([]byte, secretBytes)
	if _, err := rand.Read(random); err != nil {
		return Token{}, "", err
	}
	secret := secretPrefix + base64.RawURLEncoding.EncodeToString(random)
	t := Token{
		ID: r.ID, Name: r.Name, Hash: HashSecret(secret), Tenant: r.Tenant, Worlds: r.Worlds, Sessions: r.Sessions, CreatedAt: r.Now,
	}
	if r.Lifetime > 0 {
		t.ExpiresAt = r.Now.Add(r.Lifetime)
	}
	return t, secret, nil
}

// HashSecret is the form in which a secret is stored and looked up.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Expired says that the token's time is over.
func (t Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// MayCreate says whether the token opens new sessions of a world. A token that
// is bound to sessions creates none.
func (t Token) MayCreate(world string) bool {
	return len(t.Sessions) == 0 && (len(t.Worlds) == 0 || slices.Contains(t.Worlds, world))
}

// May says whether the token opens a session.
func (t Token) May(session, world, tenant string) bool {
	return (t.Tenant == "" || t.Tenant == tenant) &&
		(len(t.Worlds) == 0 || slices.Contains(t.Worlds, world)) &&
		(len(t.Sessions) == 0 || slices.Contains(t.Sessions, session))
}
