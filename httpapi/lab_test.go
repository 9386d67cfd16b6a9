package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/httpapi"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// lab is an API over a real store, without Temporal: what needs no running
// turn is tested here, the rest in package integration.
type lab struct {
	store  store.Store
	server *httptest.Server
}

func newLab(t testing.TB, cfg httpapi.Config, needToken bool) *lab {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	must(t, st.Migrate(t.Context()))
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	must(t, err)
	lib, _, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	must(t, err)
	hub, err := stream.NewHub(stream.Config{Store: st})
	must(t, err)
	c, err := client.New(client.Config{Library: lib, Plugins: gen, Store: st, Streams: hub})
	must(t, err)
	cfg.Client, cfg.Ready = c, func(context.Context) error { return nil }
	if needToken {
		cfg.Tokens = st
	}
	srv, err := httpapi.New(cfg)
	must(t, err)
	l := &lab{store: st, server: httptest.NewServer(srv.Handler())}
	t.Cleanup(func() { l.server.Close(); hub.Close(); must(t, st.Close()) })
	return l
}

// token stores a token and gives its secret.
func (l *lab) token(t *testing.T, r access.Request) string {
	t.Helper()
	r.Now = time.Now()
	if r.ID == "" {
		r.ID = r.Name
	}
	token, secret, err := access.Mint(r)
	must(t, err)
	must(t, l.store.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.InsertToken(ctx, token) }))
	return secret
}

// reply is one answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) problem(t *testing.T) httpapi.Problem {
	t.Helper()
	var p httpapi.Problem
	if ct := r.header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("content type %q of %s", ct, r.body)
	}
	must(t, json.Unmarshal(r.body, &p))
	if p.Status != r.status || p.Title == "" || p.Detail == "" || p.Kind == "" || p.Code == "" {
		t.Errorf("problem %s of status %d lacks a member", r.body, r.status)
	}
	return p
}

func (l *lab) send(t testing.TB, method, path, secret, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, l.server.URL+path, bytes.NewReader([]byte(body)))
	must(t, err)
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := l.server.Client().Do(req)
	must(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	must(t, err)
	return reply{resp.StatusCode, resp.Header, got}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
