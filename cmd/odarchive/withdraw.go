package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) withdraw() *cobra.Command {
	o := catalog.WithdrawalOrder{By: "local"}
	var urls []string
	cmd := &cobra.Command{
		Use:   "withdraw VERSION-IRI|URL... [--url URL]...",
		Short: "Take the bytes of versions away, for a stated reason",
		Long: `Take the bytes of versions, or of all versions of a URL, away from everybody. Their records, checksums and triples stay and
say when and why (arc:withdrawn); requests for the bytes are answered 451 or 410. What was known of the content is forgotten:
columns, statistics, words in the search, joins, differences. The bytes leave the packs, their parity, the log, state files and
tables of the database, and the WARC files of --warc and --keep-answers, which lose the records; parts that other versions
share stay. The same bytes are not kept again. The log of changes begins anew, so sinks and followers start over.

It takes about as long as writing the whole database. If it is interrupted, the same command, or a server, continues. If a
server holds the archive, or with --endpoint, the server does it.

With --dry-run it changes nothing, and lists the versions, the bytes that the disk would gain, the WARC files that would be
rewritten, and the copies that would be left.

Not removed: backups, bags, zips, crates and exported WARC files that were made by commands before, which are listed so that you
can delete them (the next full backup has nothing of the bytes; nobody knows who has downloaded what), OCFL storage roots, which are listed and lose the bytes with the next export to them, WARC files that were
moved, and copies that sinks or others have made.

Exit status: 0 done; 1 failed, nothing was withdrawn, or, as the message says, not all; 2 wrong usage.`,
		Example: `  odarchive admin withdraw http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_0 --reason "It names people." --basis "GDPR, Article 17"
  odarchive admin withdraw --url https://example.org/members.csv --reason "Published by mistake." --dry-run
  odarchive admin withdraw https://example.org/members.csv --reason "Published by mistake." --copies --endpoint http://localhost:8080/ --token "$TOKEN"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, u := range urls {
				if link, err := url.Parse(u); err != nil || link.Host == "" {
					return usagef("--url %s: expected the URL of a file", u)
				}
			}
			o.Targets = slices.Concat(args, urls)
			if _, err := o.Withdrawal(firstTime); err != nil {
				return usagef("%v", err)
			}
			return c.withdrawVersions(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&urls, "url", nil, "URL of which all versions are withdrawn (repeatable)")
	flags.StringVar(&o.Reason, "reason", "", "why, in a sentence that everybody can read")
	flags.StringVar(&o.Basis, "basis", "", "legal basis, such as a law and its article")
	flags.IntVar(&o.Status, "status", 0, "of answers to later requests: 451 for legal reasons, the default with --basis, or 410")
	flags.BoolVar(&o.Copies, "copies", false, "also withdraw other versions with the same bytes; without it, they are a reason to stop")
	flags.BoolVar(&o.DryRun, "dry-run", false, "only list the versions")
	flags.BoolVar(&c.json, "json", false, "machine-readable result")
	return c.beside(cmd, besideOptions{right: access.Admin})
}

func (c *cli) withdrawVersions(ctx context.Context, o catalog.WithdrawalOrder) error {
	return c.with(ctx, store.Options{}, func(n *app.Node) error {
		done, err := n.Withdraw(ctx, o)
		if shared, ok := errors.AsType[*archive.SharedError](err); ok {
			return fmt.Errorf("%w: --copies does that", shared)
		}
		if err != nil {
			return err
		}
		removed := ""
		if !o.DryRun {
			bar := c.progress(-1, "removing the bytes")
			files, err := n.PurgeWithdrawn(ctx, func(step string) { bar.set(0, step) })
			bar.done()
			if err != nil {
				return err
			}
			removed = english.Plural(files, "file", "") + " removed from disk"
		}
		return c.printWithdrawn(done, removed)
	})
}

func (c *cli) printWithdrawn(done catalog.Withdrawn, then string) error {
	if c.json {
		return c.print(done, "")
	}
	what := "withdrawn"
	if done.DryRun {
		what = "would be withdrawn"
	}
	for _, v := range done.Versions {
		if _, err := fmt.Fprintf(c.stdout, "%s\t%s\t%s\t%s\n", v.IRI, v.URL, v.At.UTC().Format("2006-01-02"),
			humanize.Bytes(uint64(max(v.Size, 0)))); err != nil {
			return err
		}
	}
	if done.DryRun {
		then = humanize.Bytes(uint64(max(done.Freed, 0))) + " of the disk would be freed"
	}
	if then != "" {
		then = "; " + then
	}
	if _, err := fmt.Fprintf(c.stdout, "%s %s%s\n", english.Plural(len(done.Versions), "version", ""), what, then); err != nil {
		return err
	}
	if done.DryRun {
		for _, one := range done.Rewritten {
			if _, err := fmt.Fprintf(c.stdout, "WARC files would lose their records: %s\n", printable(one.Name)); err != nil {
				return err
			}
		}
	}
	for _, one := range done.Elsewhere {
		then := ", delete it"
		if one.Kind == store.OCFLCopy {
			then = " until the next export to it"
		}
		if _, err := fmt.Fprintf(c.stdout, "%s of %s still has them%s: %s\n", one.Kind, one.At.UTC().Format("2006-01-02 15:04:05"), then,
			printable(one.Name)); err != nil {
			return err
		}
	}
	return nil
}
