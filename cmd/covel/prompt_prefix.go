package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

// prefixOptions are the flags of `covel prompt prefix`.
type prefixOptions struct {
	html    string
	session string
	show    string
}

func newPromptPrefix(c *console, set *settings) *cobra.Command {
	var o prefixOptions
	cmd := &cobra.Command{
		Use:   "prefix [DATABASE]",
		Short: "Show how much of each turn's request repeats the turn before",
		Long: `Prefix compares each turn's first request with the one of the turn before, for
every runtime: how large it is, how much of it a provider's prefix cache can
reuse, and which part breaks the prefix. DATABASE is a path or a URL; without it
the configured database is read. Nothing is changed.`,
		Example: `  covel prompt prefix
  covel prompt prefix covel.db --show narrator
  covel prompt prefix --session 3f0c --html prefix.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			url := set.database
			switch {
			case len(args) == 1:
				url = args[0]
			case !set.databaseExists():
				fmt.Fprint(c.err, cmd.UsageString())
				return misuse(cmd, "there is no database at %s; name one", databaseName(set.database, set.dataDir))
			}
			return reading(cmd.Context(), url, set.dataDir, func(st store.Store) error {
				return showPrefix(cmd.Context(), c, set, st, o)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.html, "html", "", "also write a page with charts to this `file`")
	flags.StringVar(&o.session, "session", "", "only this game (default: all)")
	flags.StringVar(&o.show, "show", "", "the text at each difference of this `runtime`")
	return cmd
}

func showPrefix(ctx context.Context, c *console, set *settings, st store.Reader, o prefixOptions) error {
	if err := knownSession(ctx, st, o.session); err != nil {
		return err
	}
	m := trace.NewMeasurement(tokens.Covel{})
	for call, err := range trace.Calls(ctx, st, o.session) {
		if err != nil {
			return err
		}
		m.Add(&call)
	}
	report := m.Report()
	if o.html != "" {
		if err := writePage(set, o.html, report); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		if err := c.printJSON(report); err != nil {
			return err
		}
	case o.show != "":
		shown := report.Show(o.show)
		if shown == "" {
			return turn.Errorf("show prefix", "runtime_not_found", "no request of %q is recorded; the table without --show lists the runtimes", o.show)
		}
		fmt.Fprint(c.out, shown)
	case len(report.Runtimes) == 0:
		fmt.Fprintln(c.err, "No request is recorded yet; play a turn first.")
	default:
		fmt.Fprint(c.out, report.Table())
	}
	return nil
}

func knownSession(ctx context.Context, st store.Reader, id string) error {
	if id == "" {
		return nil
	}
	_, err := st.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return turn.Errorf("read game", turn.CodeSessionNotFound, "there is no session %q; `covel session list` shows them", id)
	}
	return err
}

// writePage writes the report as a page for a browser, with prices where the
// model table has them.
func writePage(set *settings, path string, report trace.Report) error {
	targets, err := openTargets(set)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Page(&page, trace.PageConfig{Price: targets.price}); err != nil {
		return err
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil { //nolint:gosec // a report for everyone who may read the directory
		return turn.Errorf("write "+path, "CONFIG_ERROR", "%w", err)
	}
	return nil
}
