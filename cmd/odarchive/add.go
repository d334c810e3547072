package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/memory"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) add() *cobra.Command {
	a := adding{cli: c}
	var list struct {
		file            string
		strict, skipBad bool
	}
	cmd := &cobra.Command{
		Use:   "add URL...",
		Short: "Register files to be crawled",
		Long: `Register files to be crawled. If a server holds the archive, the command asks that server.

A list may have any length. Its good lines are registered; bad ones are printed, the first ten and their number (all of
them with --json), and the exit status is 1. With --strict, a list with a bad line is refused as a whole. If the command
is interrupted, run it again: what is registered already is not registered twice. Lists may be compressed (gzip, bzip2,
xz, zstd, lz4), in UTF-8 or UTF-16, and their columns separated by commas, semicolons, tabs or bars.`,
		Example: `  odarchive add https://example.org/data.csv
  odarchive add https://example.org/data.csv --portal https://example.org/ --dataset https://example.org/dataset/1 --title "Trees"
  odarchive add --file list.txt        one URL on each line; also .csv with a column url, and .jsonl with {"url": ...}
  grep csv urls.txt | odarchive add --file -
  odarchive add --file list.txt --strict`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if list.strict && list.skipBad {
				return usagef("--strict and --skip-bad exclude each other")
			}
			seeds, err := a.seedsOf(args)
			if err != nil {
				return err
			}
			if list.file == "" {
				if len(seeds) == 0 {
					return usagef("add needs at least one URL, or --file")
				}
				return a.run(cmd.Context(), nil, seeds)
			}
			a.skipBad = list.skipBad
			src, err := c.openList(list.file, list.strict)
			if err != nil {
				return err
			}
			err = a.runList(cmd.Context(), list.file, src, list.strict, seeds)
			return errors.Join(err, src.Close())
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.defaults.Portal, "portal", "", "IRI of the portal that lists the files")
	f.StringVar(&a.defaults.Dataset, "dataset", "", "IRI of the dataset that the files belong to")
	f.StringVar(&a.defaults.Title, "title", "", "title")
	f.StringVar(&a.defaults.Format, "format", "", "declared format, such as CSV")
	f.StringVar(&list.file, "file", "", "list of URLs: .txt, .csv or .jsonl; - is standard input")
	f.BoolVar(&list.strict, "strict", false, "register nothing if a line of the list is bad")
	f.BoolVar(&list.skipBad, "skip-bad", false, "exit with status 0 although lines of the list are bad")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Add, inputs: func([]string) []string { return named(list.file) }})
}

// adding is one run of add.
type adding struct {
	*cli
	defaults catalog.Seed // what the flags say of all files
	skipBad  bool

	given, added, secrets int
	bad                   badLines
}

// seedsOf returns the seeds of the command line.
func (a *adding) seedsOf(args []string) ([]catalog.Seed, error) {
	seeds := make([]catalog.Seed, 0, len(args))
	for _, arg := range args {
		s := a.defaults
		s.URL = arg
		if _, err := address.Parse(s.URL); err != nil {
			return nil, usagef("%w; expected an address such as https://example.org/data.csv", err)
		}
		var secret bool
		if s.URL, secret = address.WithoutSecret(s.URL); secret {
			a.secrets++
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// runList registers seeds and the entries of a list, or nothing if strict and the list has a bad line.
func (a *adding) runList(ctx context.Context, name string, src *listSource, strict bool, seeds []catalog.Seed) error {
	list, err := newSeedList(name, src, a.defaults)
	if err != nil {
		return err
	}
	if err := a.bad.begin(a.cli, name); err != nil {
		return err
	}
	if strict {
		if err := a.checkList(ctx, list, src.size); err != nil {
			return err
		}
		if err := src.rewind(); err != nil {
			return err
		}
		if list, err = newSeedList(name, src, a.defaults); err != nil {
			return err
		}
	}
	return a.run(ctx, batchesOf(ctx, list, src.size), seeds)
}

// checkList reads a list to its end. Bad lines are an error.
func (a *adding) checkList(ctx context.Context, list *seedList, size int64) error {
	all := batchesOf(ctx, list, size)
	for b, ok := all.next(ctx); ok; b, ok = all.next(ctx) {
		if b.err != nil {
			return b.err
		}
		if err := a.bad.add(b.bad); err != nil {
			return err
		}
	}
	if ctx.Err() != nil || a.bad.count == 0 {
		return ctx.Err()
	}
	if a.json {
		if err := a.bad.end(0, 0); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s of %s; nothing was added", english.Plural(a.bad.count, "bad line", ""), list.name)
}

// listMemory is what registering a list may take before garbage is collected more often, in bytes.
const listMemory = 896 << 20

// run registers seeds, then the batches of a list, which may be nil. It waits for the first batch before it opens or
// creates the archive, so a list that cannot be read creates none.
func (a *adding) run(ctx context.Context, list *batches, seeds []catalog.Seed) error {
	first, size, unit := batch{seeds: seeds, secrets: a.secrets, read: int64(len(seeds))}, int64(len(seeds)), "files"
	if list != nil {
		size, unit = list.size, "bytes"
		first, _ = list.next(ctx)
		first.seeds, first.secrets = append(seeds, first.seeds...), first.secrets+a.secrets
		first.sorted = first.sorted && len(seeds) == 0
		if err := cmp.Or(first.err, ctx.Err()); err != nil {
			return err
		}
	}
	a.secrets = 0
	register := func(n *app.Node) error {
		bar := a.progress(size, unit)
		defer bar.done()
		done := int64(0) // of size, before the batch
		for b, ok := first, true; ok; b, ok = list.next(ctx) {
			progress := func(n int) { // a batch is sorted, so this is an estimate
				at := done + (b.read-done)*int64(n)/int64(len(b.seeds))
				bar.set(at, fmt.Sprintf("%d registered", a.given))
			}
			with := n.Intake.Add
			if b.sorted {
				with = n.Intake.AddSorted
			}
			if err := a.register(ctx, with, b, progress); err != nil {
				return fmt.Errorf("%s registered: %w", english.Plural(a.given, "file is", "files are"), err)
			}
			done = b.read
		}
		return ctx.Err()
	}
	err := a.with(ctx, store.Options{Create: true, Bulk: list != nil}, func(n *app.Node) error {
		if list != nil && a.call == nil { // a long list makes the database many times larger
			defer n.DB.SaveRarely()()
			defer memory.Raise(listMemory)()
		}
		return register(n)
	})
	if err != nil && list != nil && a.given > 0 && !a.json {
		fmt.Fprintf(a.stderr, "odarchive: %d given, %d new so far; the same command registers the rest\n", a.given, a.added)
	}
	if a.secrets > 0 {
		fmt.Fprintf(a.stderr, "odarchive: removed users and passwords from %s: the archive neither stores nor sends them\n",
			english.Plural(a.secrets, "URL", ""))
	}
	if err != nil && !a.json {
		return err
	}
	if err := cmp.Or(a.report(), err); err != nil {
		return err
	}
	if a.bad.count > 0 && !a.skipBad {
		return fmt.Errorf("%s of %s; the good ones are registered (--strict registers all or none)",
			english.Plural(a.bad.count, "bad line", ""), a.bad.name)
	}
	return nil
}

// adder registers seeds: Intake.Add or Intake.AddSorted.
type adder func(context.Context, []catalog.Seed) (fresh []bool, err error)

// register registers one batch of a list. It calls progress with the number of its files that are registered.
func (a *adding) register(ctx context.Context, add adder, b batch, progress func(int)) error {
	if b.err != nil {
		return b.err
	}
	if err := a.bad.add(b.bad); err != nil {
		return err
	}
	a.secrets += b.secrets
	n := 0
	for part := range parts(b.seeds) {
		fresh, err := add(ctx, part)
		for _, isNew := range fresh {
			if isNew {
				a.added++
			}
		}
		a.given += len(fresh)
		if err != nil {
			return err
		}
		n += len(part)
		progress(n)
	}
	return nil
}

// after returns text after a separator, "" for none.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// report prints the result.
func (a *adding) report() error {
	switch {
	case a.json && a.bad.cli != nil:
		return a.bad.end(a.given, a.added)
	case a.skipBad && a.bad.count > 0:
		return a.summary(nil, "%d given, %d new, %s skipped, the first: %v%s", a.given, a.added,
			english.Plural(a.bad.count, "bad line", ""), a.bad.first, after("\n", fetchedNext(a.added)))
	}
	return a.summary(map[string]int{"given": a.given, "added": a.added, "skipped": 0}, "%d given, %d new%s", a.given, a.added,
		after("; ", fetchedNext(a.added)))
}
