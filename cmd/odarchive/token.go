package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

// newToken is the output of token new.
type newToken struct {
	Name    string     `json:"name"`
	Token   string     `json:"token"`
	Rights  []string   `json:"rights"`
	Hash    string     `json:"hash"`
	Expires *time.Time `json:"expires,omitempty"`
	Table   string     `json:"table"` // for the settings file
}

func (c *cli) token() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke tokens of a server",
		Long: `Make, list and revoke tokens of a server. A token has a name, which logs and the audit show, and rights:

  read     read the archive, if the server is closed (--closed), and query without the limits of anonymous clients
  add      register URLs
  crawl    direct the crawl: orders, scope, settings of hosts, campaigns, harvests
  update   change triples; SERVICE of any endpoint
  replicate  copy everything that is stored, as a replica does ('odarchive serve --follow')
  admin    all of these, and backups, checks, tokens, the audit

Each right includes read. The token of --token has all rights. The settings file has a table for each other token:

  [[token]]
  name = "portal-team"
  rights = ["add", "crawl"]
  hash = "sha256:..."
  expires = 2027-12-31T00:00:00Z    # or none
  rate = 10                         # requests a second, or none for the limit of an address

The file has the hash of a token, not the token. Two tables may have the same name while a token is exchanged. A server
reads the tables again on SIGHUP.`,
		Example: `  odarchive admin token new portal-team --right add --right crawl --expires 2160h
  odarchive admin token list --endpoint https://archive.example.org/ --token-file admin.token
  odarchive admin token revoke portal-team`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.tokenNew(), c.tokenList(), c.tokenRevoke())
	return cmd
}

func (c *cli) tokenNew() *cobra.Command {
	var rights []string
	var expires string
	var rate float64
	cmd := &cobra.Command{
		Use:   "new NAME --right RIGHT...",
		Short: "Print a new token, and the table for the settings file",
		Long: `Print a new token, which is shown only now, and the [[token]] table with its hash for the settings file. The server knows the
token after it was started with the file, or got SIGHUP.`,
		Example: "  odarchive admin token new portal-team --right add --right crawl\n  odarchive admin token new nightly --right admin " +
			"--expires " +
			"2027-12-31",
		Args: exactly("name"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := access.CheckName(args[0]); err != nil {
				return usageError{err}
			}
			set, err := config.ParseRights(rights)
			if err != nil {
				return usagef("--right: %v", err)
			}
			end, err := parseEnd(expires, time.Now())
			if err != nil {
				return err
			}
			if !(rate >= 0 && rate <= 1e6) {
				return usagef("--rate %v: expected requests a second, at most a million", rate)
			}
			return c.printNewToken(args[0], set, end, rate)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&rights, "right", nil, "read, add, crawl, update or admin (repeatable)")
	f.StringVar(&expires, "expires", "", "when the token ends: a time, a date, or hours from now such as 2160h; empty for never")
	f.Float64Var(&rate, "rate", 0, "requests a second, 0 for the limit of an address")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// parseEnd parses --expires; nil for never.
func parseEnd(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		at := now.Add(d).UTC().Truncate(time.Second)
		return &at, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.After(now) {
			at = at.UTC()
			return &at, nil
		}
	}
	return nil, usagef("--expires %q: expected a time in the future such as 2027-12-31T00:00:00Z or 2027-12-31, or hours such as 2160h",
		text)
}

func (c *cli) printNewToken(name string, rights access.Right, end *time.Time, rate float64) error {
	secret, digest := access.New()
	var table strings.Builder
	quoted := make([]string, 0, 5)
	for _, r := range rights.Names() {
		quoted = append(quoted, strconv.Quote(r))
	}
	fmt.Fprintf(&table, "[[token]]\nname = %q\nrights = [%s]\nhash = %q\n", name, strings.Join(quoted, ", "), access.FormatHash(digest))
	if end != nil {
		fmt.Fprintf(&table, "expires = %s\n", end.Format(time.RFC3339))
	}
	if rate > 0 {
		fmt.Fprintf(&table, "rate = %s\n", strconv.FormatFloat(rate, 'f', -1, 64))
	}
	return c.print(newToken{Name: name, Token: secret, Rights: rights.Names(), Hash: access.FormatHash(digest), Expires: end,
		Table: table.String()},
		"The token, which is shown only now:\n\n  %s\n\nThe table for the settings file:\n\n%s", secret,
		strings.TrimSuffix(table.String(), "\n"))
}

func (c *cli) tokenList() *cobra.Command {
	return c.tokenCommand("list", "List the tokens: names, rights, ends, last use since the server's start", "  odarchive admin token list",
		exactly(), func(ctx context.Context, n *app.Node, _ []string) error {
			list, err := n.ListTokens(ctx)
			if err != nil {
				return err
			}
			return c.printTokens(list)
		})
}

func (c *cli) tokenRevoke() *cobra.Command {
	return c.tokenCommand("revoke NAME", "Make the tokens with a name invalid for ever, at once",
		"  odarchive admin token revoke portal-team\n  odarchive admin token revoke portal-team --endpoint https://archive.example.org/ "+
			"--token-file "+
			"admin.token", exactly("name"), func(ctx context.Context, n *app.Node, args []string) error {
			list, err := n.RevokeToken(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.printTokens(list)
			}
			return c.print(nil, "%s is revoked; remove its table from the settings file", args[0])
		})
}

// tokenCommand returns a command about tokens, which do carries out.
func (c *cli) tokenCommand(use, short, example string, args cobra.PositionalArgs,
	do func(context.Context, *app.Node, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, f := cmd.Context(), func(n *app.Node) error { return do(cmd.Context(), n, args) }
			if use == "list" {
				return c.reading(ctx, f)
			}
			return c.with(ctx, store.Options{}, f)
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Admin, reads: use == "list"})
}

func (c *cli) printTokens(list []access.Listed) error {
	if c.json {
		return c.print(map[string]any{"tokens": list}, "")
	}
	if len(list) == 0 {
		return c.print(nil, "there are no tokens")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, t := range list {
		end, used := "never ends", ""
		if t.Expires != nil {
			end = "ends " + t.Expires.UTC().Format(time.RFC3339)
		}
		if t.Used != nil {
			used = "used " + t.Used.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, strings.Join(t.Rights, ", "), cmp.Or(t.State, end), used)
	}
	return w.Flush()
}
