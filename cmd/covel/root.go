package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree.
func newRoot(c *console) *cobra.Command {
	set := &settings{}
	root := &cobra.Command{
		Use:           "covel",
		Short:         "A durable turn engine for AI narrative games",
		Example:       `  covel play --world lanternfall`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.json = set.json
			return set.resolve(cmd)
		},
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misuse(cmd, "%w", err)
	})
	set.addFlags(root.PersistentFlags())
	root.AddCommand(
		newPlay(c, set),
		newDev(c, set),
		newWorker(c, set),
		newServe(c, set),
		newMigrate(c, set),
		newSession(c, set),
		newTurn(c, set),
		newSuspension(c, set),
		newCheck(c),
		newDoctor(c, set),
		newPrompt(c, set),
		newWorld(c, set),
		newPlugin(c, set),
		newToken(c, set),
		newAudit(c, set),
	)
	wrapArgs(root)
	return root
}

// wrapArgs makes wrong arguments a usage error that names the command.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return misuse(cmd, "%w", err)
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		wrapArgs(child)
	}
}

// group is a command that only holds others.
func group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     use,
		Short:   short,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse(cmd, "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(children...)
	return cmd
}

func requireText(cmd *cobra.Command, flag, value string) error {
	if value == "" {
		return misuse(cmd, "--%s is missing", flag)
	}
	return nil
}

// misuse is a usage error that names the command and its help.
func misuse(cmd *cobra.Command, format string, args ...any) error {
	what := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "covel"), " ")
	if what != "" {
		what += ": "
	}
	return usageError{fmt.Errorf("%s%w; see `%s --help`", what, fmt.Errorf(format, args...), cmd.CommandPath())}
}
