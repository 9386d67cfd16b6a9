package main

import (
	"context"
	"fmt"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

func newTurn(c *console, set *settings) *cobra.Command {
	return group("turn", "Start and show turns", `  covel turn start SESSION --say "I light the lamp"`,
		newTurnStart(c, set), newTurnShow(c, set), newTurnAbort(c, set))
}

func newTurnStart(c *console, set *settings) *cobra.Command {
	var req client.StartTurn
	cmd := &cobra.Command{
		Use:   "start SESSION",
		Short: "Play one turn of a game",
		Long: `Start plays one turn and prints its outcome. With an external Temporal a worker
elsewhere plays it; otherwise everything runs in this process.`,
		Example: `  covel turn start 3f0c --say "I light the lamp" --turn turn-12 --wait 30s --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Session = args[0]
			return withClient(cmd.Context(), set, engineOptions{temporal: true, worker: set.embedded()}, func(ctx context.Context, e *engine) error {
				handle, err := e.client.StartTurn(ctx, req)
				if err != nil {
					return err
				}
				return finishTurn(ctx, c, handle)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Message, "say", "", "what the player says")
	flags.StringVar(&req.Turn, "turn", "", "id of the turn, which makes a repeat safe (default: a new one)")
	flags.DurationVar(&req.WaitForSession, "wait", 0, "how long to wait for a busy game, such as 30s")
	return cmd
}

// finishTurn waits for the outcome and prints it; a turn that did not commit
// is a failed command.
func finishTurn(ctx context.Context, c *console, handle *client.Handle) error {
	outcome, err := handle.Wait(ctx)
	if ctx.Err() != nil {
		return abortTurn(handle, handle.SessionID)
	}
	if err != nil {
		return err
	}
	return showOutcome(c, outcome)
}

func showOutcome(c *console, outcome turn.Outcome) error {
	if c.json {
		return c.printJSON(outcome)
	}
	fmt.Fprintln(c.out, outcome.Narrative)
	return reportOutcome(c, outcome)
}

func newTurnShow(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "show SESSION TURN",
		Short:   "Show a turn's outcome",
		Example: `  covel turn show 3f0c turn-12 --json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				outcome, err := e.client.Outcome(ctx, args[0], args[1])
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(outcome)
				}
				fmt.Fprintf(c.out, "turn %d: %s\n\n%s\n", outcome.LogicalTurn, outcome.Status, outcome.Narrative)
				for _, r := range outcome.Runtimes {
					fmt.Fprintf(c.out, "%-24s %-10s %-10s steps %d, tools %d, %s\n", r.ID, r.Stage, r.Status, r.Steps, r.ToolCalls,
						(time.Duration(r.DurationMs) * time.Millisecond).String())
				}
				return nil
			})
		},
	}
}

func newTurnAbort(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "abort SESSION",
		Short:   "End the running turn without a commit",
		Example: `  covel turn abort 3f0c`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{temporal: true}, func(ctx context.Context, e *engine) error {
				handle, err := e.client.Running(ctx, args[0])
				if err != nil {
					return err
				}
				if err := handle.Abort(ctx); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]string{"aborted": handle.TurnID})
				}
				fmt.Fprintf(c.out, "aborted %s\n", handle.TurnID)
				return nil
			})
		},
	}
}
