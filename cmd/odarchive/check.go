package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) check() *cobra.Command {
	var repair, packsOnly, deep bool
	var into string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every stored byte and index, and compare checksums",
		Long: `Read every pack and every block of the database, compare checksums, compare the sort orders of the triples with one
another and with the records, graphs of documents among them, look for versions without bytes, and compare the log of
events with the versions. If a server holds the archive, that server does the
check. With --repair, damage is repaired if possible. Files that cannot be repaired are removed from the store and named;
the next crawl fetches those that are the latest version of their URL again.

If full packs are in a bucket (--bytes), the bucket is listed, and sizes and ETags are compared. With --deep, all of it is
read, and --repair heals what is damaged there. What neither a local copy nor parity can restore is named and counted as lost.

With --packs-only, only the packs are read: the command lists the files in them, and with -o writes them to a directory,
named by their SHA-256. This needs no database, so it works even if the archive cannot be opened. Packs that are only in
the bucket of --bytes are read there; with --bytes none, only what is here is read.

Exit status: 0 no damage (and with --repair, no loss), 1 damage, or damage that was repaired when the archive was opened
for this check, 2 wrong usage. A loss that an earlier repair reported is listed, but does not count as damage.`,
		Example: `  odarchive check
  odarchive check --repair || odarchive crawl --once
  odarchive check --packs-only -o rescued
  odarchive check --endpoint http://localhost:8080/ --token "$SECRET" --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case packsOnly && (repair || c.server != ""):
				return usagef("--packs-only only reads the packs of --data; it cannot be combined with --repair or --endpoint")
			case into != "" && !packsOnly:
				return usagef("-o requires --packs-only")
			case packsOnly:
				return c.salvage(cmd.Context(), into)
			}
			if repair && c.reads {
				return usagef("--repair writes, so it cannot be combined with --read-only")
			}
			run := func(n *app.Node) error { return c.runCheck(cmd.Context(), n, repair, deep) }
			if repair {
				return c.with(cmd.Context(), store.Options{}, run)
			}
			return c.reading(cmd.Context(), run)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "repair damage; drop files that cannot be repaired, and fetch them again if possible")
	cmd.Flags().BoolVar(&deep, "deep", false,
		"also read packs that are only in the bucket of --bytes, instead of comparing their sizes and ETags")
	cmd.Flags().BoolVar(&packsOnly, "packs-only", false, "list the files in the packs, without the database")
	cmd.Flags().StringVarP(&into, "output", "o", "", "with --packs-only: directory to write the files to")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable report")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{right: access.Admin, alone: func() bool { return packsOnly || into != "" }})
}

// salvage prints the files in the packs, on one line or as one JSON object each, and a summary on stderr.
func (c *cli) salvage(ctx context.Context, into string) error {
	lines := json.NewEncoder(c.stdout)
	report, err := store.Salvage(ctx, c.cfg, into, c.log, func(s store.Salvaged) error {
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
	written := ""
	if into != "" {
		written = fmt.Sprintf(", %d written", report.Saved)
	}
	fmt.Fprintf(c.stderr, "%s: %s, %d with all their segments%s\n", english.Plural(report.Packs, "pack", ""),
		english.Plural(report.Files, "file", ""), report.Whole, written)
	return report.Err()
}

func (c *cli) runCheck(ctx context.Context, n *app.Node, repair, deep bool) error {
	var shown *bar
	var stage string
	since := time.Time{} // what was found and repaired while this process opened the archive is part of the check
	if c.call != nil {
		since = time.Now()
	}
	examine := n.Check
	if deep {
		examine = n.CheckDeep
	}
	report, err := examine(ctx, repair, since, func(now string, done, total int64) {
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
	}{{"damaged", report.Damaged}, {"repaired", report.Mended}, {"repair", report.Repaired}, {"lost", report.Lost}} {
		for _, line := range list.lines {
			fmt.Fprintf(c.stderr, "%s: %s\n", list.what, line)
		}
	}
	if b := report.Bucket; b != nil {
		how := "listed"
		if b.Read {
			how = "read"
		}
		fmt.Fprintf(c.stderr, "bucket: %s, %d of them not there yet; %d bytes are only there, which were %s\n",
			english.Plural(b.Files, "file", ""), b.Waiting, b.Cold, how)
	}
	segments := figure(report.Segments, "segment")
	if b := report.Bucket; b != nil && !b.Read && b.Cold > 0 && report.Segments.Known() {
		segments = "at least " + segments
	}
	err = c.print(report, "%s, %s, %s; %s; %s, %s: %s", figure(report.Packs, "pack"), segments, figure(report.Bytes, "byte"),
		figure(report.Files, "file"), figure(report.Triples, "triple"), figure(report.Terms, "term"),
		english.Plural(len(report.Damaged), "damage", ""))
	if err == nil {
		err = report.Err(repair)
	}
	return err
}

// figure returns a figure with its noun: "1 pack", "2 packs", "packs not counted".
func figure(f catalog.Figure, noun string) string {
	if !f.Known() {
		return english.PluralWord(2, noun, "") + " not counted"
	}
	return f.String() + " " + english.PluralWord(f.N(), noun, "")
}
