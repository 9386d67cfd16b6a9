package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/spf13/cobra"
)

func newSuspension(c *console, set *settings) *cobra.Command {
	return group("suspension", "List, resume and cancel paused runtimes", "  covel suspension list 3f0c",
		newSuspensionList(c, set), newSuspensionResume(c, set), newSuspensionCancel(c, set))
}

func newSuspensionList(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "list SESSION",
		Short:   "List a game's paused runtimes, the oldest first",
		Example: `  covel suspension list 3f0c --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				list, err := e.client.Suspensions(ctx, args[0])
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(list)
				}
				w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tRUNTIME\tSTATUS\tSINCE\tREASON")
				for i := range list {
					s := &list[i]
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.RuntimeID, s.Status, s.CreatedAt.Format("2006-01-02 15:04"), oneLine(s.Reason))
				}
				return w.Flush()
			})
		},
	}
}

func newSuspensionResume(c *console, set *settings) *cobra.Command {
	var req client.Resume
	var data string
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Answer a paused runtime and let it go on",
		Long: `Resume gives a paused runtime its answer, waits for the end and prints the
outcome. The data must fit the schema that the list shows.`,
		Example: `  covel suspension resume sus-1f2e --data '{"name":"Ada"}' --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireText(cmd, "data", data); err != nil {
				return err
			}
			req.Suspension, req.Data = args[0], json.RawMessage(data)
			return withClient(cmd.Context(), set, engineOptions{temporal: true, worker: set.embedded()}, func(ctx context.Context, e *engine) error {
				handle, err := e.client.Resume(ctx, req)
				if err != nil {
					return err
				}
				return finishTurn(ctx, c, handle)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&data, "data", "", "the answer, one JSON value")
	flags.StringVar(&req.Session, "session", "", "game that the suspension must belong to (default: any)")
	flags.StringVar(&req.Turn, "turn", "", "id of the resume's turn, which makes a repeat safe (default: a new one)")
	flags.DurationVar(&req.WaitForSession, "wait", 0, "how long to wait for a busy game, such as 30s")
	return cmd
}

func newSuspensionCancel(c *console, set *settings) *cobra.Command {
	req := client.CancelSuspension{WaitForSession: 10 * time.Second}
	cmd := &cobra.Command{
		Use:     "cancel ID",
		Short:   "Close a paused runtime without an answer",
		Example: `  covel suspension cancel sus-1f2e --reason "the player left"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Suspension = args[0]
			return withClient(cmd.Context(), set, engineOptions{temporal: true, worker: set.embedded()}, func(ctx context.Context, e *engine) error {
				result, err := e.client.CancelSuspension(ctx, req)
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]any{"cancelled": req.Suspension, "counted": result.Counted, "jobs": result.Jobs})
				}
				fmt.Fprintf(c.out, "cancelled %s\n", req.Suspension)
				return nil
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Reason, "reason", "", "why, kept with the suspension")
	flags.StringVar(&req.Session, "session", "", "game that the suspension must belong to (default: any)")
	return cmd
}
