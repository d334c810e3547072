package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/describe"
	"odarchive/triplestore/disk"

	"github.com/spf13/cobra"
)

func (c *cli) cite() *cobra.Command {
	var format, out, dir, prefix string
	var all bool
	cmd := &cobra.Command{
		Use:   "cite URL|VERSION-IRI...",
		Short: "Cite versions, files and datasets, or write DataCite metadata for DOIs",
		Long: `Cite versions, files or datasets with what their portals say of authors, publishers and licences. Formats: ` + strings.Join(describe.CitationNames(), ", ") + `.

With --dir, each becomes a file of its own, named by its id; --all cites the latest version of every file. With --doi-prefix,
DataCite metadata names the DOI to be registered: the prefix, a slash and the id of the version. Send such a file to DataCite
(or load it in Fabrica) to register the DOI; the archive itself registers nothing.`,
		Example: `  odarchive cite https://example.org/data.csv
  odarchive cite http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_0 --format bibtex
  odarchive cite https://example.org/data.csv --format csl
  odarchive cite --all --format datacite-xml --doi-prefix 10.5072 --dir dois`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !all:
				return usagef("cite needs URL or VERSION-IRI, or --all")
			case all && (len(args) > 0 || dir == ""):
				return usagef("--all needs --dir, and no URL")
			case dir != "" && (c.call != nil || c.server != ""): // a server must not write where a client says
				return usagef("--dir cannot be combined with --endpoint: it writes files here")
			case dir != "" && out != "-":
				return usagef("-o cannot be combined with --dir")
			case !slices.Contains(describe.CitationNames(), format):
				return usagef("--format %q: expected %s", format, strings.Join(describe.CitationNames(), ", "))
			case format == "datacite-xml" && len(args) > 1 && dir == "":
				return usagef("--format datacite-xml needs --dir for several works, since each is a document")
			case prefix != "" && !strings.HasPrefix(format, "datacite"):
				return usagef("--doi-prefix needs --format datacite or datacite-xml")
			case prefix != "" && !describe.IsDOIPrefix(prefix):
				return usagef("--doi-prefix %q: expected a prefix such as 10.5072", prefix)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				var texts [][]byte
				written := 0
				one := func(w describe.Work) error {
					body, extension, err := formatted(w, format, prefix)
					if err != nil {
						return err
					}
					if dir == "" {
						texts = append(texts, body)
						return nil
					}
					written++
					if format == "csl" {
						body = jsonArray([][]byte{body})
					}
					return disk.WriteFile(disk.OS{}, filepath.Join(dir, fileID(w)+extension), body, 0o644)
				}
				if dir != "" {
					if err := os.MkdirAll(dir, 0o755); err != nil {
						return err
					}
				}
				var err error
				if all {
					err = citeAll(cmd.Context(), n, one)
				}
				for _, arg := range args {
					if err == nil {
						err = citeOne(cmd.Context(), n, arg, one)
					}
				}
				if err != nil {
					return err
				}
				if dir != "" {
					return c.print(map[string]any{"files": written, "dir": dir}, "%s: %d files", dir, written)
				}
				text := bytes.Join(texts, nil)
				if format == "csl" || format == "datacite" && len(texts) > 1 { // CSL-JSON is a list, as its schema has it
					text = jsonArray(texts)
				}
				return c.writeBytes(out, text)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "citation", "form of the citation")
	f.StringVarP(&out, "output", "o", "-", "file to write, - for standard output")
	f.StringVar(&dir, "dir", "", "directory for a file each")
	f.BoolVar(&all, "all", false, "the latest version of every file")
	f.StringVar(&prefix, "doi-prefix", "", "prefix of DOIs to be registered")
	f.BoolVar(&c.json, "json", false, "with --dir: machine-readable summary")
	c.cfg.ARKFlag(f)
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{alone: func() bool { return dir != "" }})
}

// jsonArray returns JSON values as an array.
func jsonArray(values [][]byte) []byte {
	trimmed := make([][]byte, len(values))
	for i, v := range values {
		trimmed[i] = bytes.TrimSpace(v)
	}
	return slices.Concat([]byte("[\n"), bytes.Join(trimmed, []byte(",\n")), []byte("\n]\n"))
}

// formatted returns the citation, and the extension of its file.
func formatted(w describe.Work, format, prefix string) (body []byte, extension string, err error) {
	if prefix != "" {
		doi := prefix + "/" + fileID(w)
		if format == "datacite" {
			body, err = w.DataCite(doi)
			return body, ".datacite.json", err
		}
		body, err = w.DataCiteXML(doi)
		return body, ".datacite.xml", err
	}
	body, _, extension, _, err = w.Format(format)
	if format == "citation" { // for people, who read it in a terminal
		body = []byte(printable(strings.TrimRight(string(body), "\n")) + "\n")
	}
	return body, extension, err
}

// fileID returns what names a work in files and DOIs.
func fileID(w describe.Work) string {
	if w.ID != "" {
		return w.ID
	}
	return ns.ResourceID(w.IRI)
}

func citeOne(ctx context.Context, n *app.Node, name string, f func(describe.Work) error) error {
	collector := n.Citations()
	w, err := describe.Work{}, error(nil)
	if id, ok := n.Archive.VersionID(name); ok {
		w, err = collector.Version(ctx, id)
	} else {
		w, err = collector.Dataset(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("cite %.300s: %w", name, err)
	}
	return f(w)
}

// citeAll cites the latest version of every file that has one.
func citeAll(ctx context.Context, n *app.Node, f func(describe.Work) error) (err error) {
	collector := n.Citations()
	walk := n.Archive.Archived(ctx, "", func(r catalog.Resource) bool {
		var w describe.Work
		if w, err = collector.Version(ctx, ns.VersionID(r.ID, r.LatestN())); err == nil {
			err = f(w)
		}
		return err == nil && ctx.Err() == nil
	})
	if err == nil {
		err = walk
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}
