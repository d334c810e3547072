package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/triplestore/disk"

	"github.com/spf13/cobra"
)

func (c *cli) audit() *cobra.Command {
	limit, verify := 20, false
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who changed the archive over HTTP: when, what, from where, and how it ended",
		Long: `List the latest requests that were allowed to change something, newest first: time, name of the token, address of the
client, what was asked, status of the answer, and the beginning of what an order said. "local" are commands beside a server.
Commands without a server are not recorded; who runs them may change the files anyway.

Each line of the log has the digest of the line before it. --verify checks that: lines that were changed or removed later are
named (exit status 1). Keep the digest that it prints in another place: it shows later that the end of the log was not cut off.

The log is in DATA/audit, at most 256 MiB; the oldest entries go first. With --endpoint the command asks that server, with a
token that has the right admin.`,
		Example: `  odarchive admin audit
  odarchive admin audit --limit 100 --json
  odarchive admin audit --verify
  odarchive admin audit --endpoint https://archive.example.org/ --token-file admin.token`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verify {
				return c.verifyAudit()
			}
			list, err := operate.LastAct(disk.OS{}, faces.AuditDir(c.cfg.Data), limit, 0)
			if err != nil {
				return err
			}
			return c.printAudit(list)
		},
	}
	number(cmd.Flags(), &limit, "limit", 1, 1000, "how many")
	cmd.Flags().BoolVar(&verify, "verify", false, "check that no line was changed or removed")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Admin, reads: true})
}

func (c *cli) verifyAudit() error {
	r, err := operate.VerifyAudit(disk.OS{}, faces.AuditDir(c.cfg.Data))
	if err != nil {
		return err
	}
	if err := c.print(r, "%d lines, the last one has the digest %s", r.Lines, cmp.Or(r.Head, "–")); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return errors.New(strings.Join(r.Faults, "; "))
	}
	return nil
}

func (c *cli) printAudit(list []operate.AuditEntry) error {
	if c.json {
		if list == nil {
			list = []operate.AuditEntry{} // [] in JSON
		}
		return c.print(list, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, e := range list {
		if e.Note != "" {
			fmt.Fprintf(w, "%s\t–\t–\t–\t%s\n", e.At.Format(time.RFC3339), printable(e.Note))
			continue
		}
		what := e.Method + " " + e.Path
		if e.Query != "" {
			what += "?" + e.Query
		}
		if e.Body != "" {
			what += " " + strings.Join(strings.Fields(e.Body), " ")
		}
		status := "no end"
		if e.Ended && e.Status == 0 {
			status = "no answer"
		} else if e.Ended {
			status = fmt.Sprint(e.Status)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.At.Format(time.RFC3339), printable(e.Who), printable(cmp.Or(e.From, "–")), status,
			printable(what))
	}
	return w.Flush()
}
