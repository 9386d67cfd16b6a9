package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func newToken(c *console, set *settings) *cobra.Command {
	return group("token", "Create, list and revoke bearer tokens of the HTTP API", "  covel token list",
		newTokenCreate(c, set), newTokenList(c, set), newTokenRevoke(c, set))
}

func newTokenCreate(c *console, set *settings) *cobra.Command {
	var req access.Request
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a token and print its secret, once",
		Long: `Create makes a bearer token. Its secret is printed once and kept nowhere: only
its hash is stored. Without --world and --session the token opens every session
of its tenant; without --tenant, of every tenant.`,
		Example: `  covel token create --name game-eu --tenant eu --world lanternfall
  covel token create --name ops --lifetime 24h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireText(cmd, "name", req.Name); err != nil {
				return err
			}
			req.ID, req.Now = uuid.NewString(), time.Now()
			token, secret, err := access.Mint(req)
			if err != nil {
				return misuse(cmd, "%w", err)
			}
			return withClient(cmd.Context(), set, engineOptions{}, func(ctx context.Context, e *engine) error {
				err := e.audited(ctx, access.ActionTokenCreate, token.ID, func(ctx context.Context, tx store.Tx) error {
					return tx.InsertToken(ctx, token)
				})
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(struct {
						access.Token

						Secret string `json:"secret"`
					}{token, secret})
				}
				fmt.Fprintf(c.out, "token   %s (%s)\nsecret  %s\nThe secret is not shown again.\n", token.ID, token.Name, secret)
				return nil
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Name, "name", "", "what the audit calls it")
	flags.StringVar(&req.Tenant, "tenant", "", "tenant of the sessions that it opens and creates")
	flags.StringArrayVar(&req.Worlds, "world", nil, "world that it opens; may be repeated")
	flags.StringArrayVar(&req.Sessions, "session", nil, "session that it opens; may be repeated")
	flags.DurationVar(&req.Lifetime, "lifetime", 0, "time until it ends (default: it does not)")
	return cmd
}

func newTokenList(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List tokens, without their secrets",
		Example: `  covel token list --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				tokens, err := e.store.Tokens(ctx)
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(append([]access.Token{}, tokens...))
				}
				w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tNAME\tTENANT\tWORLDS\tSESSIONS\tENDS")
				for _, t := range tokens {
					ends := "never"
					if !t.ExpiresAt.IsZero() {
						ends = t.ExpiresAt.Format("2006-01-02 15:04")
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%v\t%s\n", t.ID, t.Name, t.Tenant, t.Worlds, t.Sessions, ends)
				}
				return w.Flush()
			})
		},
	}
}

func newTokenRevoke(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token at once",
		Example: `  covel token revoke 3f0c`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd.Context(), set, engineOptions{}, func(ctx context.Context, e *engine) error {
				err := e.audited(ctx, access.ActionTokenRevoke, args[0], func(ctx context.Context, tx store.Tx) error {
					return tx.DeleteToken(ctx, args[0])
				})
				if errors.Is(err, store.ErrNotFound) {
					return turn.Errorf("revoke token", "NOT_FOUND", "there is no token %q; list them with `covel token list`", args[0])
				}
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]string{"revoked": args[0]})
				}
				fmt.Fprintf(c.out, "revoked %s\n", args[0])
				return nil
			})
		},
	}
}

func newAudit(c *console, set *settings) *cobra.Command {
	var subject string
	var limit int
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Show who aborted, resumed, deleted and gave access, the latest first",
		Example: `  covel audit --subject 3f0c --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return misuse(cmd, "--limit is %d; give 1 or more", limit)
			}
			return withClient(cmd.Context(), set, engineOptions{readOnly: true}, func(ctx context.Context, e *engine) error {
				entries, err := e.store.Audit(ctx, subject, limit)
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(append([]access.Entry{}, entries...))
				}
				w := tabwriter.NewWriter(c.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "AT\tACTOR\tACTION\tSUBJECT\tDETAIL")
				for _, a := range entries {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.At.Format("2006-01-02 15:04:05"), a.Actor, a.Action, a.Subject, a.Detail)
				}
				return w.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&subject, "subject", "", "id of a session or token (default: all)")
	cmd.Flags().IntVar(&limit, "limit", 100, "most entries to show")
	return cmd
}

// audited does something and notes it, in one transaction.
func (e *engine) audited(ctx context.Context, action access.Action, subject string, do func(ctx context.Context, tx store.Tx) error) error {
	return e.store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := do(ctx, tx); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, access.Entry{ID: uuid.NewString(), At: time.Now(), Actor: access.ActorOf(ctx), Action: action, Subject: subject})
	})
}
