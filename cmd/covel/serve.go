package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/covel-engine/covel/httpapi"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
	temporal "go.temporal.io/sdk/client"
)

func newServe(c *console, set *settings) *cobra.Command {
	var opts apiOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: `Serve answers the HTTP+SSE API under /v1, its description (/openapi.json),
liveness (/healthz) and readiness (/readyz: Temporal and the database can be
used). On a loopback address no token is asked for unless --require-token is
given; on any other one every request needs a bearer token (covel token create).`,
		Example: `  covel serve --listen 127.0.0.1:8080`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if set.embedded() {
				return turn.Errorf("serve", "CONFIG_ERROR", "no external Temporal is named; set TEMPORAL_ADDRESS or --temporal, or use `covel dev`")
			}
			ctx := cmd.Context()
			e, err := openEngine(ctx, set, engineOptions{temporal: true})
			if err != nil {
				return err
			}
			defer e.close()
			api, err := e.serveAPI(ctx, opts)
			if err != nil {
				return err
			}
			err = e.serveUntilDone(ctx, c, ready{Event: "ready", Temporal: set.temporal, API: api.address, PID: os.Getpid()})
			return errors.Join(err, api.stop())
		},
	}
	cmd.Flags().StringVar(&opts.listen, "listen", "127.0.0.1:8080", "address to listen on")
	cmd.Flags().BoolVar(&opts.needToken, "require-token", false, "ask for a bearer token on loopback too")
	cmd.Flags().Float64Var(&opts.rate, "rate", 0, "requests a second of one token (default 500)")
	return cmd
}

// apiOptions say how the HTTP API is served.
type apiOptions struct {
	listen    string
	needToken bool
	rate      float64
}

// runningAPI is an HTTP API that this process serves.
type runningAPI struct {
	address string
	cancel  context.CancelFunc
	ended   chan error
}

// stop drains the server and gives how it ended.
func (r *runningAPI) stop() error {
	r.cancel()
	if err := <-r.ended; err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// serveAPI serves the HTTP API until ctx ends or it is stopped.
func (e *engine) serveAPI(ctx context.Context, o apiOptions) (*runningAPI, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, turn.Errorf("serve", turn.CodeUnavailable, "%s cannot be listened on: %w; use another --listen", o.listen, err)
	}
	cfg := httpapi.Config{Client: e.client, Rate: o.rate, Ready: e.usable, Version: version()}
	if o.needToken || !loopback(l.Addr()) {
		cfg.Tokens = e.store
	}
	srv, err := httpapi.New(cfg)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &runningAPI{address: "http://" + l.Addr().String(), cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- srv.Serve(ctx, l) }()
	return r, nil
}

// loopback says that only this machine reaches the address.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// usable says whether Temporal and the database answer.
func (e *engine) usable(ctx context.Context) error {
	if _, err := e.temporal.CheckHealth(ctx, &temporal.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("temporal: %s", shortCause(err))
	}
	have, want, err := e.store.SchemaVersion(ctx)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if have != want {
		return fmt.Errorf("database: schema %d, this program needs %d; run `covel migrate`", have, want)
	}
	return nil
}
