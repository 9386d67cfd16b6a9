package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/access"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMintKeepsOnlyTheHash(t *testing.T) {
	t.Parallel()
	token, secret, err := access.Mint(access.Request{ID: "t1", Name: "game", Now: now, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	other, otherSecret, err := access.Mint(access.Request{ID: "t2", Name: "game", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if secret == otherSecret || token.Hash == other.Hash || len(secret) < 40 || strings.Contains(token.Hash, secret) {
		t.Errorf("secrets %q and %q", secret, otherSecret)
	}
	if access.HashSecret(secret) != token.Hash {
		t.Error("the secret does not lead to its token")
	}
	if token.Expired(now) || !token.Expired(now.Add(time.Hour)) || other.Expired(now.AddDate(100, 0, 0)) {
		t.Error("a token ends at its hour, and never without one")
	}
}

func TestMintRefuses(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]access.Request{
		"no name":         {ID: "t", Now: now},
		"no id":           {Name: "n", Now: now},
		"a blank world":   {ID: "t", Name: "n", Worlds: []string{" "}},
		"a long session":  {ID: "t", Name: "n", Sessions: []string{strings.Repeat("s", 129)}},
		"a past lifetime": {ID: "t", Name: "n", Lifetime: -1},
		"a long tenant":   {ID: "t", Name: "n", Tenant: strings.Repeat("s", 129)},
	} {
		if _, _, err := access.Mint(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		token  access.Token
		may    bool // session s of world w and tenant a
		create bool // in world w
	}{
		{"everything", access.Token{}, true, true},
		{"its tenant", access.Token{Tenant: "a"}, true, true},
		{"another tenant", access.Token{Tenant: "b"}, false, true},
		{"its world", access.Token{Worlds: []string{"v", "w"}}, true, true},
		{"another world", access.Token{Worlds: []string{"v"}}, false, false},
		{"its session", access.Token{Sessions: []string{"s"}}, true, false},
		{"another session", access.Token{Sessions: []string{"z"}}, false, false},
		{"session of another world", access.Token{Sessions: []string{"s"}, Worlds: []string{"v"}}, false, false},
	} {
		if c.token.May("s", "w", "a") != c.may || c.token.MayCreate("w") != c.create {
			t.Errorf("%s: may %v, create %v", c.name, c.token.May("s", "w", "a"), c.token.MayCreate("w"))
		}
	}
}
