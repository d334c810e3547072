package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/check"
	"odarchive/cmd/internal/store"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) check() *cobra.Command {
	var repair, packsOnly bool
	var into string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every stored byte and index, and compare checksums",
		Long: `Read every pack and every block of the database, compare checksums, compare the sort orders of the triples with one
another and with the records, and look for versions whose bytes are missing. An archive that a server holds is checked
by that server. With --repair, what can be mended is mended; files that cannot are dropped from the store and named, and
those that are the latest version of their URL are fetched again by the next crawl.

With --packs-only, nothing but the packs is read: the files that they describe are listed, and with -o written into a directory,
named by their SHA-256. That needs no database, and works where the archive cannot be opened any more.

Exit status: 0 nothing is damaged (with --repair: nothing was lost, either), 1 something is, or was and has been mended by
opening the archive for this check, 2 wrong usage. A loss that an earlier repair has named is listed, and is no damage any more.`,
		Example: `  odarchive check
  odarchive check --repair || odarchive crawl --once
  odarchive check --packs-only -o rescued
  odarchive check --endpoint http://localhost:8080/ --token "$SECRET" --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case packsOnly && (repair || c.server != ""):
				return usagef("--packs-only reads the packs of --data, and repairs nothing")
			case into != "" && !packsOnly:
				return usagef("-o goes with --packs-only")
			case packsOnly:
				return c.salvage(cmd.Context(), into)
			}
			if repair && c.reads {
				return usagef("--repair writes, and --read-only forbids that")
			}
			if r := c.remote(cmd.Context()); r != nil {
				return c.runCheck(cmd.Context(), r, repair)
			}
			if repair {
				return c.with(cmd.Context(), store.Options{}, func(n *app.Node) error { return c.runCheck(cmd.Context(), here{n}, true) })
			}
			return c.reading(cmd.Context(), func(n *app.Node) error { return c.runCheck(cmd.Context(), here{n}, false) })
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "mend what is damaged; drop what cannot be mended, and have it fetched again where it still can be")
	cmd.Flags().BoolVar(&packsOnly, "packs-only", false, "list the files that the packs alone describe")
	cmd.Flags().StringVarP(&into, "output", "o", "", "with --packs-only: directory to write the files to")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable report")
	c.readOnlyFlag(cmd)
	c.remoteFlags(cmd)
	return cmd
}

// salvage lists what the packs describe, a line or a JSON object each, and the sum on stderr.
func (c *cli) salvage(ctx context.Context, into string) error {
	lines := json.NewEncoder(c.stdout)
	report, err := store.Salvage(ctx, c.cfg.Data, into, func(s store.Salvaged) error {
		if c.json {
			return lines.Encode(s)
		}
		_, err := fmt.Fprintf(c.stdout, "%s %d %s\n", s.SHA256, s.Size, printable(string(s.Label)))
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range report.Damages {
		fmt.Fprintf(c.stderr, "damaged: %s\n", d)
	}
	fmt.Fprintf(c.stderr, "%s: %s, %d with all their segments, %d written\n", english.Plural(report.Packs, "pack", ""), english.Plural(report.Files, "file", ""), report.Whole, report.Saved)
	return report.Err()
}

// checker is an archive that can be checked: one that is open here, or a server's.
type checker interface {
	Check(ctx context.Context, repair bool, progress check.Progress) (check.Report, error)
}

// here is an archive that this process has opened: what was found and mended while it was opened belongs to the check.
type here struct{ node *app.Node }

func (h here) Check(ctx context.Context, repair bool, progress check.Progress) (check.Report, error) {
	return h.node.Check(ctx, repair, time.Time{}, progress)
}

func (c *cli) runCheck(ctx context.Context, archive checker, repair bool) error {
	var shown *bar
	var stage string
	report, err := archive.Check(ctx, repair, func(now string, done, total int64) {
		if shown == nil || now != stage {
			if shown != nil {
				shown.done()
			}
			shown, stage = c.progress(total, ""), now
		}
		shown.set(done, "checking "+now)
	})
	if shown != nil {
		shown.done()
	}
	if err != nil {
		return err
	}
	for _, list := range []struct {
		what  string
		lines []string
	}{{"damaged", report.Damaged}, {"mended", report.Mended}, {"repair", report.Repaired}, {"lost", report.Lost}} {
		for _, line := range list.lines {
			fmt.Fprintf(c.stderr, "%s: %s\n", list.what, line)
		}
	}
	err = c.print(report, "%s, %s, %d bytes; %s; %d triples, %d terms: %s", english.Plural(int(report.Packs), "pack", ""), english.Plural(int(report.Segments), "segment", ""), report.Bytes,
		english.Plural(int(report.Files), "file", ""), report.Triples, report.Terms, english.Plural(len(report.Damaged), "damage", ""))
	if err == nil {
		err = report.Err(repair)
	}
	return err
}
