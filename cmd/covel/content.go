package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// listed is one line of `covel world list` and `covel plugin list`.
type listed struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Locales []string `json:"locales,omitempty"`
}

func newWorld(c *console, set *settings) *cobra.Command {
	return group("world", "Worlds that games are made from", "  covel world list", &cobra.Command{
		Use:     "list",
		Short:   "List the installed worlds",
		Example: `  covel world list --json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := &engine{log: newLogger()}
			if err := e.loadContent(set); err != nil {
				return err
			}
			rows := []listed{}
			for _, w := range e.library.Worlds() {
				rows = append(rows, listed{ID: w.ID, Name: w.Name, Version: w.Version, Summary: w.Summary, Locales: w.SupportedLocales})
			}
			return e.showList(c, rows)
		},
	})
}

func newPlugin(c *console, set *settings) *cobra.Command {
	return group("plugin", "Plugins that games run on", "  covel plugin list", &cobra.Command{
		Use:     "list",
		Short:   "List the installed plugins",
		Example: `  covel plugin list --json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := &engine{log: newLogger()}
			if err := e.loadContent(set); err != nil {
				return err
			}
			rows := []listed{}
			for _, p := range e.plugins.Plugins() {
				rows = append(rows, listed{ID: p.ID, Name: p.DisplayName, Version: p.Version, Summary: p.Description})
			}
			return e.showList(c, rows)
		},
	}, newPluginSchema(c))
}

func (e *engine) showList(c *console, rows []listed) error {
	for _, notice := range e.notices {
		fmt.Fprintf(c.err, "covel: %s\n", notice)
	}
	if c.json {
		return c.printJSON(rows)
	}
	w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Version, r.Summary)
	}
	return w.Flush()
}
