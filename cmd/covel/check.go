package main

import (
	"encoding/json"
	"io"
	"maps"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/plugins/check"
	"github.com/covel-engine/covel/world"
	"github.com/spf13/cobra"
)

func newCheck(c *console) *cobra.Command {
	return group("check", "Say precisely what is wrong with a plugin or a world", "  covel check world my-world",
		newCheckKind(c, "plugin", (*check.Checker).Plugin, (*check.Checker).PluginFindings),
		newCheckKind(c, "world", (*check.Checker).World, (*check.Checker).WorldFindings))
}

// newCheckKind is the command for one kind of package.
func newCheckKind(
	c *console, kind string,
	print func(*check.Checker, io.Writer, ...string) (int, int, error),
	find func(*check.Checker, ...string) ([]source.Finding, error),
) *cobra.Command {
	return &cobra.Command{
		Use:     kind + " DIR...",
		Short:   "Check " + kind + " packages and print every finding with its fix",
		Example: "  covel check " + kind + " ./my-" + kind,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			checker, err := check.New()
			if err != nil {
				return err
			}
			var errs int
			if c.json {
				findings, err := find(checker, dirs...)
				if err != nil {
					return misuse(cmd, "%w", err)
				}
				if findings == nil {
					findings = []source.Finding{}
				}
				var warnings int
				errs, warnings = check.Count(findings)
				if err := c.printJSON(map[string]any{"findings": findings, "errors": errs, "warnings": warnings}); err != nil {
					return err
				}
			} else if errs, _, err = print(checker, c.out, dirs...); err != nil {
				return misuse(cmd, "%w", err)
			}
			if errs > 0 {
				return errReported
			}
			return nil
		},
	}
}

// newPluginSchema prints the JSON Schemas that editors use.
func newPluginSchema(c *console) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schemas of authors' files, by file name",
		Example: `  covel plugin schema > schemas.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := map[string]json.RawMessage{}
			for _, schemas := range []func() (map[string]json.RawMessage, error){plugin.EditorSchemas, world.EditorSchemas} {
				list, err := schemas()
				if err != nil {
					return err
				}
				maps.Copy(all, list)
			}
			enc := json.NewEncoder(c.out)
			enc.SetEscapeHTML(false)
			if !c.json {
				enc.SetIndent("", "  ")
			}
			return enc.Encode(all)
		},
	}
}
