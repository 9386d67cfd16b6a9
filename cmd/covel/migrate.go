package main

import (
	"fmt"

	"github.com/covel-engine/covel/worker"
	"github.com/spf13/cobra"
)

// migrated is the summary of `covel migrate`.
type migrated struct {
	Database         string   `json:"database"`
	From             int      `json:"from"`
	To               int      `json:"to"`
	SearchAttributes []string `json:"searchAttributesAdded"`
}

func newMigrate(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring database and Temporal namespace up to this version",
		Long: `Migrate runs the database's migrations and creates the search attributes of an
external Temporal namespace, and waits until they can be read. It is safe to
repeat. The embedded server needs no search attributes made.`,
		Example: `  COVEL_DATABASE_URL=postgres://covel@localhost/covel covel migrate`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			external := !set.embedded()
			e, err := openEngine(ctx, set, engineOptions{skipMigrate: true, temporal: external})
			if err != nil {
				return err
			}
			defer e.close()
			out := migrated{Database: "sqlite", SearchAttributes: []string{}}
			if set.postgres() {
				out.Database = "postgres"
			}
			if out.From, _, err = e.store.SchemaVersion(ctx); err != nil {
				return err
			}
			if err := e.store.Migrate(ctx); err != nil {
				return err
			}
			if _, out.To, err = e.store.SchemaVersion(ctx); err != nil {
				return err
			}
			if external {
				if out.SearchAttributes, err = worker.EnsureSearchAttributes(ctx, e.temporal, namespace()); err != nil {
					return err
				}
			}
			if c.json {
				return c.printJSON(out)
			}
			fmt.Fprintf(c.out, "%s schema %d -> %d\n", out.Database, out.From, out.To)
			if external {
				fmt.Fprintf(c.out, "search attributes added: %d\n", len(out.SearchAttributes))
			}
			return nil
		},
	}
}
