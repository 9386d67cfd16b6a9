package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/session"
	"github.com/spf13/cobra"
)

func newSession(c *console, set *settings) *cobra.Command {
	return group("session", "Create, list and show games", "  covel session list",
		newSessionCreate(c, set), newSessionList(c, set), newSessionShow(c, set), newSessionDelete(c, set))
}

func newSessionCreate(c *console, set *settings) *cobra.Command {
	var req client.CreateSession
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Create a game",
		Example: `  covel session create --world lanternfall --locale zh-CN`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireText(cmd, "world", req.World); err != nil {
				return err
			}
			return withClient(cmd.Context(), set, engineOptions{}, func(ctx context.Context, e *engine) error {
				s, err := e.client.CreateSession(ctx, req)
				if err != nil {
					return err
				}
				return showSession(c, s)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.World, "world", "", "world of the game")
	flags.StringVar(&req.Locale, "locale", "", "language (default: the world's)")
	flags.StringArrayVar(&req.Plugins, "plugin", nil, "activate a plugin; may be repeated")
	flags.StringVar(&req.ID, "id", "", "id of the game (default: a new one)")
	return cmd
}

func newSessionList(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List games, the latest first",
		Example: `  covel session list --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				games, err := e.client.Sessions(ctx, 1000)
				if err != nil {
					return err
				}
				if c.json {
					if games == nil {
						games = []session.Session{}
					}
					return c.printJSON(games)
				}
				w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tWORLD\tLOCALE\tSTATUS\tTURNS\tUPDATED")
				for _, g := range games {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", g.ID, g.WorldID, g.Locale, g.Status, g.CompletedPlayerTurns, g.UpdatedAt.Format("2006-01-02 15:04"))
				}
				return w.Flush()
			})
		},
	}
}

func newSessionShow(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show a game's record",
		Example: `  covel session show 3f0c --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				s, err := e.client.Session(ctx, args[0])
				if err != nil {
					return err
				}
				return showSession(c, s)
			})
		},
	}
}

func newSessionDelete(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "delete ID",
		Short:   "Delete a game and everything of it",
		Example: `  covel session delete 3f0c`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{temporal: true}, func(ctx context.Context, e *engine) error {
				if err := e.client.DeleteSession(ctx, args[0]); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]string{"deleted": args[0]})
				}
				fmt.Fprintf(c.out, "deleted %s\n", args[0])
				return nil
			})
		},
	}
}

func showSession(c *console, s session.Session) error {
	if c.json {
		return c.printJSON(s)
	}
	w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "id\t%s\nworld\t%s\nlocale\t%s\nstatus\t%s\nphase\t%s\nturns\t%d\nplugins\t%v\n",
		s.ID, s.WorldID, s.Locale, s.Status, s.Phase, s.CompletedPlayerTurns, s.ActivePlugins)
	return w.Flush()
}

// withClient runs fn with an engine of the given parts.
func withClient(ctx context.Context, set *settings, o engineOptions, fn func(context.Context, *engine) error) error {
	e, err := openEngine(ctx, set, o)
	if err != nil {
		return err
	}
	defer e.close()
	return fn(ctx, e)
}
