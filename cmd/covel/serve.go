package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/covel-engine/covel/httpapi"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
	temporal "go.temporal.io/sdk/client"
)

func newServe(c *console, set *settings) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: `Serve answers liveness (/healthz) and readiness (/readyz: Temporal and the
database can be used) over HTTP.`,
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
			srv, err := httpapi.New(httpapi.Config{Ready: e.usable})
			if err != nil {
				return err
			}
			l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
			if err != nil {
				return turn.Errorf("serve", turn.CodeUnavailable, "%s cannot be listened on: %w; use another --listen", listen, err)
			}
			served := make(chan error, 1)
			go func() { served <- srv.Serve(ctx, l) }()
			err = e.serveUntilDone(ctx, c, ready{Event: "ready", Temporal: set.temporal, API: "http://" + l.Addr().String(), PID: os.Getpid()})
			if serveErr := <-served; serveErr != nil {
				return fmt.Errorf("serve: %w", serveErr)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address to listen on")
	return cmd
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
