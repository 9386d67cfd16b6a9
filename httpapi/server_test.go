package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/httpapi"
)

func TestServerTellsItsHealth(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database does not answer")
	for _, tc := range []struct {
		name   string
		path   string
		ready  error
		status int
	}{
		{"alive", "/healthz", broken, http.StatusOK},
		{"ready", "/readyz", nil, http.StatusOK},
		{"not ready", "/readyz", broken, http.StatusServiceUnavailable},
		{"unknown path", "/v2", nil, http.StatusNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv, err := httpapi.New(httpapi.Config{Client: new(client.Client), Ready: func(context.Context) error { return tc.ready }})
			if err != nil {
				t.Fatal(err)
			}
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- srv.Serve(ctx, l) }()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+tc.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status {
				t.Errorf("%s: status %d, body %s; want %d", tc.path, resp.StatusCode, body, tc.status)
			}
			http.DefaultClient.CloseIdleConnections()
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Serve ended with %v", err)
			}
		})
	}
}
