package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/covel-engine/covel/model/scripted"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

// ready is the line that `covel dev`, `covel worker` and `covel serve` print
// when they can be used.
type ready struct {
	Event    string `json:"event"`
	Temporal string `json:"temporal,omitempty"`
	UI       string `json:"ui,omitempty"`
	API      string `json:"api,omitempty"`
	// Scripted is where the scripted model answers in all four protocols.
	Scripted string `json:"scripted,omitempty"`
	Worker   bool   `json:"worker"`
	PID      int    `json:"pid"`
}

func newDev(c *console, set *settings) *cobra.Command {
	var port, uiPort, apiPort int
	var memory, noWorker, scriptedHTTP bool
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run Temporal with its UI, a worker and the HTTP API in this process",
		Long: `Dev starts the embedded Temporal server with its web UI and, unless --no-worker
is given, a worker on the embedded database and the HTTP API on it. Other covel commands on the same
data directory connect to it. Ctrl-C stops it cleanly.`,
		Example: `  covel dev
  covel dev --port 7233 --no-worker --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			e, err := openEngine(ctx, set, engineOptions{
				grpcPort: port, memory: memory, noStore: noWorker, temporal: true, ui: true, uiPort: uiPort, wantEmbed: true, worker: !noWorker,
			})
			if err != nil {
				return err
			}
			defer e.close()
			r := ready{Event: "ready", Temporal: e.server.FrontendAddr, UI: e.server.UIAddr, Worker: !noWorker, PID: os.Getpid()}
			if !noWorker {
				api, err := e.serveAPI(ctx, apiOptions{listen: fmt.Sprintf("127.0.0.1:%d", apiPort)})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, api.stop()) }()
				r.API = api.address
			}
			if scriptedHTTP {
				address, stop, err := serveScripted(ctx)
				if err != nil {
					return err
				}
				defer stop()
				r.Scripted = address
			}
			return e.serveUntilDone(ctx, c, r)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port of Temporal's gRPC API (default: any free one)")
	cmd.Flags().IntVar(&uiPort, "ui-port", 0, "port of Temporal's web UI (default: any free one)")
	cmd.Flags().IntVar(&apiPort, "api-port", 0, "port of the HTTP API (default: any free one)")
	cmd.Flags().BoolVar(&scriptedHTTP, "scripted-http", false, "serve the scripted model over HTTP in all four wire protocols")
	cmd.Flags().BoolVar(&memory, "memory", false, "keep nothing on disk; other commands cannot connect through the data directory")
	cmd.Flags().BoolVar(&noWorker, "no-worker", false, "only Temporal; a `covel worker` elsewhere plays the turns")
	return cmd
}

// serveScripted serves the scripted model on a free loopback port.
func serveScripted(ctx context.Context) (address string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, turn.Errorf("serve the scripted model", turn.CodeUnavailable, "%w", err)
	}
	server := &http.Server{Handler: scripted.NewHandler(scripted.HandlerConfig{}), ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // ends with Close
	}()
	return "http://" + l.Addr().String(), func() { _ = server.Close(); <-ended }, nil
}

// serveUntilDone announces that the process can be used and waits for its end.
func (e *engine) serveUntilDone(ctx context.Context, c *console, r ready) error {
	for _, notice := range e.notices {
		fmt.Fprintf(c.err, "covel: %s\n", notice)
	}
	if c.json {
		if err := c.printJSON(r); err != nil {
			return err
		}
	} else {
		if r.Temporal != "" {
			fmt.Fprintf(c.out, "Temporal  %s\n", r.Temporal)
		}
		if r.UI != "" {
			fmt.Fprintf(c.out, "UI        %s\n", r.UI)
		}
		if r.Scripted != "" {
			fmt.Fprintf(c.out, "Scripted  %s\n", r.Scripted)
		}
		if r.API != "" {
			fmt.Fprintf(c.out, "API       %s\n", r.API)
		}
		if r.Worker {
			fmt.Fprintln(c.out, "Worker    polling")
		}
		fmt.Fprintln(c.out, "Ctrl-C stops.")
	}
	<-ctx.Done()
	return nil
}
