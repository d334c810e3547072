package main

import (
	"bufio"
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
	"odarchive/crawler/catalog"
	"odarchive/crawler/surt"

	"github.com/spf13/cobra"
)

func (c *cli) add() *cobra.Command {
	var seed catalog.Seed
	var file string
	cmd := &cobra.Command{
		Use:   "add URL...",
		Short: "Register files to be crawled",
		Example: `  odarchive add https://example.org/data.csv
  odarchive add https://example.org/data.csv --portal https://example.org/ --dataset https://example.org/dataset/1 --title "Trees"
  odarchive add --file list.txt        one URL a line; .csv with a column url, .jsonl with {"url": ...} too`,
		RunE: func(cmd *cobra.Command, args []string) error {
			seeds := make([]catalog.Seed, 0, len(args))
			for _, address := range args {
				s := seed
				s.URL = address
				seeds = append(seeds, s)
			}
			if file != "" {
				listed, err := readSeeds(file, seed)
				if err != nil {
					return err
				}
				seeds = append(seeds, listed...)
			}
			if len(seeds) == 0 {
				return usagef("add needs at least one URL, or --file")
			}
			for _, s := range seeds {
				if _, err := surt.Canonical(s.URL); err != nil {
					return usagef("%q: %w; expected an address such as https://example.org/data.csv", s.URL, err)
				}
			}
			return c.with(cmd.Context(), app.Options{Create: true}, func(n *app.Node) error {
				bar := c.progress(int64(len(seeds)), "files")
				defer bar.done()
				added, done := 0, 0
				for part := range slices.Chunk(seeds, 1000) {
					fresh, err := n.Intake.Add(cmd.Context(), part)
					if err != nil {
						return fmt.Errorf("%d of %d are registered: %w", done, len(seeds), err)
					}
					for _, isNew := range fresh {
						if isNew {
							added++
						}
					}
					done += len(part)
					bar.set(int64(done), "registered")
				}
				return c.print(map[string]int{"given": len(seeds), "added": added}, "%d given, %d new", len(seeds), added)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&seed.Portal, "portal", "", "IRI of the portal that lists the files")
	f.StringVar(&seed.Dataset, "dataset", "", "IRI of the dataset they belong to")
	f.StringVar(&seed.Title, "title", "", "title")
	f.StringVar(&seed.Format, "format", "", "declared format, such as CSV")
	f.StringVar(&file, "file", "", "list of URLs: .txt, .csv or .jsonl")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// maxLine bounds a line of a list.
const maxLine = 1 << 20

// readSeeds reads a list; what an entry does not say is taken from the defaults.
func readSeeds(name string, defaults catalog.Seed) ([]catalog.Seed, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return eachLine(f, name, func(line string) (catalog.Seed, error) {
			var entry struct{ URL, Href, Portal, Dataset, Title, Format string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				return defaults, fmt.Errorf("expected a JSON object such as {\"url\": \"https://...\"}: %w", err)
			}
			return merge(defaults, entry.URL+entry.Href, entry.Portal, entry.Dataset, entry.Title, entry.Format), nil
		})
	case ".csv":
		return readCSV(f, name, defaults)
	}
	return eachLine(f, name, func(line string) (catalog.Seed, error) { return merge(defaults, line, "", "", "", ""), nil })
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

func eachLine(r io.Reader, name string, parse func(string) (catalog.Seed, error)) ([]catalog.Seed, error) {
	var seeds []catalog.Seed
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds, lines.Err()
}

func readCSV(r io.Reader, name string, defaults catalog.Seed) ([]catalog.Seed, error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: expected a header with a column url: %w", name, err)
	}
	column := map[string]int{}
	for i, h := range header {
		column[strings.ToLower(strings.TrimSpace(h))] = i
	}
	if _, ok := column["url"]; !ok {
		return nil, fmt.Errorf("%s: no column is called url; found %s", name, strings.Join(header, ", "))
	}
	var seeds []catalog.Seed
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return seeds, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cell := func(h string) string {
			if i, ok := column[h]; ok {
				return row[i]
			}
			return ""
		}
		seeds = append(seeds, merge(defaults, cell("url"), cell("portal"), cell("dataset"), cell("title"), cell("format")))
	}
}
