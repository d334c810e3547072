package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/address"
	"odarchive/crawler/catalog"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) add() *cobra.Command {
	var seed catalog.Seed
	var file string
	var skipBad bool
	cmd := &cobra.Command{
		Use:   "add URL...",
		Short: "Register files to be crawled",
		Long:  "Register files to be crawled. If a server holds the archive, the command asks that server.",
		Example: `  odarchive add https://example.org/data.csv
  odarchive add https://example.org/data.csv --portal https://example.org/ --dataset https://example.org/dataset/1 --title "Trees"
  odarchive add --file list.txt        one URL on each line; also .csv with a column url, and .jsonl with {"url": ...}
  odarchive add --file list.txt --skip-bad`,
		RunE: func(cmd *cobra.Command, args []string) error {
			seeds := make([]catalog.Seed, 0, len(args))
			for _, arg := range args {
				s := seed
				s.URL = arg
				if _, err := address.Parse(s.URL); err != nil {
					return usagef("%w; expected an address such as https://example.org/data.csv", err)
				}
				seeds = append(seeds, s)
			}
			listed := seedList{name: file, defaults: seed, skipBad: skipBad}
			if file != "" {
				if err := listed.read(); err != nil {
					return err
				}
				seeds = append(seeds, listed.seeds...)
			}
			secrets := 0
			for i := range seeds {
				var secret bool
				if seeds[i].URL, secret = address.WithoutSecret(seeds[i].URL); secret {
					secrets++
				}
			}
			if secrets > 0 {
				fmt.Fprintf(c.stderr, "odarchive: removed users and passwords from %s: the archive neither stores nor sends them\n", english.Plural(secrets, "URL", ""))
			}
			if len(seeds) == 0 && file == "" {
				return usagef("add needs at least one URL, or --file")
			}
			register := func(add func(context.Context, []catalog.Seed) ([]bool, error)) error {
				bar := c.progress(int64(len(seeds)), "files")
				defer bar.done()
				added, done := 0, 0
				for part := range slices.Chunk(seeds, crawler.SeedsPerTxn) {
					fresh, err := add(cmd.Context(), part)
					for _, isNew := range fresh {
						if isNew {
							added++
						}
					}
					done += len(fresh)
					if err != nil {
						return fmt.Errorf("%d of %d are registered: %w", done, len(seeds), err)
					}
					bar.set(int64(done), "registered")
				}
				skipped := ""
				if listed.skipped > 0 {
					skipped = fmt.Sprintf(", %s skipped, the first: %v", english.Plural(listed.skipped, "bad line", ""), listed.first)
				}
				return c.print(map[string]int{"given": len(seeds), "added": added, "skipped": listed.skipped}, "%d given, %d new%s", len(seeds), added, skipped)
			}
			if r := c.remote(cmd.Context()); r != nil {
				return register(r.Add)
			}
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error { return register(n.Intake.Add) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&seed.Portal, "portal", "", "IRI of the portal that lists the files")
	f.StringVar(&seed.Dataset, "dataset", "", "IRI of the dataset that the files belong to")
	f.StringVar(&seed.Title, "title", "", "title")
	f.StringVar(&seed.Format, "format", "", "declared format, such as CSV")
	f.StringVar(&file, "file", "", "list of URLs: .txt, .csv or .jsonl")
	f.BoolVar(&skipBad, "skip-bad", false, "skip lines of the list without a valid URL, and print how many there were")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	c.remoteFlags(cmd)
	return cmd
}

// maxLine is the maximum length of a line of a list.
const maxLine = 1 << 20

// seedList is a list of URLs from a file. Fields that an entry lacks have the values of defaults.
type seedList struct {
	name     string
	defaults catalog.Seed
	skipBad  bool

	seeds   []catalog.Seed
	skipped int   // number of bad lines
	first   error // what is wrong with the first bad line
}

func (l *seedList) read() error {
	f, err := os.Open(l.name)
	if err != nil {
		return err
	}
	defer f.Close()
	text := bufio.NewReader(f)
	if head, _ := text.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = text.Discard(len(byteOrderMark))
	}
	switch strings.ToLower(filepath.Ext(l.name)) {
	case ".jsonl", ".ndjson":
		return l.lines(text, func(line string) (catalog.Seed, error) {
			var entry struct{ URL, Href, Portal, Dataset, Title, Format string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				return catalog.Seed{}, fmt.Errorf("expected a JSON object such as {\"url\": \"https://...\"}: %w", err)
			}
			return merge(l.defaults, cmp.Or(entry.URL, entry.Href), entry.Portal, entry.Dataset, entry.Title, entry.Format), nil
		})
	case ".csv":
		return l.rows(text)
	}
	return l.lines(text, func(line string) (catalog.Seed, error) { return merge(l.defaults, line, "", "", "", ""), nil })
}

// byteOrderMark begins the texts that some programs write.
const byteOrderMark = "\ufeff"

// addLine appends the seed of a line. A bad line is an error, or is skipped with skipBad.
func (l *seedList) addLine(line int, s catalog.Seed, err error) error {
	if err == nil {
		_, err = crawler.CleanSeed(s)
	}
	if err == nil {
		l.seeds = append(l.seeds, s)
		return nil
	}
	err = fmt.Errorf("%s:%d: %w", l.name, line, err)
	if !l.skipBad {
		return fmt.Errorf("%w; nothing was added (--skip-bad adds the other lines)", err)
	}
	if l.skipped++; l.skipped == 1 {
		l.first = err
	}
	return nil
}

func merge(s catalog.Seed, url, portal, dataset, title, format string) catalog.Seed {
	s.URL = url
	for field, value := range map[*string]string{&s.Portal: portal, &s.Dataset: dataset, &s.Title: title, &s.Format: format} {
		if value != "" {
			*field = value
		}
	}
	return s
}

func (l *seedList) lines(r io.Reader, parse func(string) (catalog.Seed, error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := parse(line)
		if err := l.addLine(n, seed, err); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", l.name, n+1, err)
	}
	return nil
}

func (l *seedList) rows(r io.Reader) error {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return fmt.Errorf("%s: expected a header with a column url: %w", l.name, err)
	}
	column := map[string]int{}
	for i, h := range header {
		column[strings.ToLower(strings.TrimSpace(h))] = i
	}
	if _, ok := column["url"]; !ok {
		return fmt.Errorf("%s: expected a column url; found %s", l.name, strings.Join(header, ", "))
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			if err := l.addLine(bad.Line, catalog.Seed{}, bad.Err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		cell := func(h string) string {
			if i, ok := column[h]; ok {
				return row[i]
			}
			return ""
		}
		line, _ := rows.FieldPos(0)
		if err := l.addLine(line, merge(l.defaults, cell("url"), cell("portal"), cell("dataset"), cell("title"), cell("format")), nil); err != nil {
			return err
		}
	}
}
