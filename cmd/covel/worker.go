package main

import (
	"os"

	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

func newWorker(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run a worker against an external Temporal and database",
		Long: `Worker polls an external Temporal server for turns and model calls. It is
stateless: start as many as you need. TEMPORAL_ADDRESS and COVEL_DATABASE_URL say
where Temporal and the game's database are.`,
		Example: `  TEMPORAL_ADDRESS=localhost:7233 COVEL_DATABASE_URL=postgres://covel@localhost/covel covel worker`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if set.embedded() {
				return turn.Errorf("worker", "CONFIG_ERROR", "no external Temporal is named; set TEMPORAL_ADDRESS or --temporal, or use `covel dev`")
			}
			ctx := cmd.Context()
			e, err := openEngine(ctx, set, engineOptions{temporal: true, worker: true})
			if err != nil {
				return err
			}
			defer e.close()
			return e.serveUntilDone(ctx, c, ready{Event: "ready", Temporal: set.temporal, Worker: true, PID: os.Getpid()})
		},
	}
}
