package main

import (
	"context"
	"fmt"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/store"
	"github.com/spf13/cobra"
)

func newPromptShow(c *console, set *settings) *cobra.Command {
	var choice promptChoice
	var wire bool
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show exactly what a recorded model call sent",
		Long: `Show prints a recorded call section by section: what each is, how many tokens it
has and whether a prefix cache can hold it. Without flags it is the story's first
call of the latest turn. It reads the database only, beside a running engine too.

  boundary  a cache border ends this section
  prefix    repeats from turn to turn, a cache can hold it
  none      new in this turn`,
		Example: `  covel prompt show 3f0c
  covel prompt show 3f0c --turn 3 --runtime guide --call 2
  covel prompt show 3f0c --wire | jq .messages`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, f := range []struct {
				name  string
				value int
			}{{"turn", choice.turn}, {"call", choice.call}} {
				if cmd.Flags().Changed(f.name) && f.value < 1 {
					return misuse(cmd, "--%s is %d; count from 1", f.name, f.value)
				}
			}
			return reading(cmd.Context(), set.database, set.dataDir, func(st store.Store) error {
				return showPrompt(cmd.Context(), c, set, st, args[0], choice, wire)
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&choice.turn, "turn", 0, "number of the turn, from 1 (default: the latest with a call)")
	flags.StringVar(&choice.runtime, "runtime", "", "whose call (default: the one that tells the story)")
	flags.IntVar(&choice.call, "call", 0, "which call of the runtime in the turn, from 1 (default: 1)")
	flags.BoolVar(&wire, "wire", false, "print the recorded wire body, byte for byte")
	return cmd
}

func showPrompt(ctx context.Context, c *console, set *settings, st store.Store, sessionID string, choice promptChoice, wire bool) error {
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), UserDir: set.plugins, Handlers: plugins.Handlers()})
	if err != nil {
		return err
	}
	targets, err := openTargets(set)
	if err != nil {
		return err
	}
	p, err := readPrompt(ctx, st, targets, gen, sessionID, choice)
	if err != nil {
		return err
	}
	switch {
	case wire:
		_, err = fmt.Fprintf(c.out, "%s\n", p.wire)
		return err
	case c.json:
		return c.printJSON(p)
	default:
		view := promptView{w: c.out, colour: colourful(c.out)}
		return view.show(p)
	}
}
