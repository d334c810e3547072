package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/operate/access"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/results"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// text returns the query or update of a command line: the argument, a file, or standard input for "-".
func (c *cli) text(what string, args []string, file string) (string, error) {
	switch {
	case len(args) == 1 && file != "":
		return "", usagef("%s takes a text or --file, not both", what)
	case len(args) == 1 && args[0] != "-":
		return args[0], nil
	case len(args) > 1:
		return "", usagef("%s takes one text, got %d arguments; quote the text", what, len(args))
	case file == "" && len(args) == 0:
		return "", usagef("%s needs a text, --file FILE, or - for standard input", what)
	}
	in, err := c.openInput(cmp.Or(file, "-"))
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(in)
	return string(raw), errors.Join(err, in.Close())
}

// dashes returns the arguments that stand for standard input.
func dashes(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg != "-" })
}

// textInput returns what text reads.
func textInput(args []string, file string) []string {
	if len(args) == 0 {
		return named(file)
	}
	return dashes(args)
}

// named returns a list of a file, an empty one for "".
func named(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}

func (c *cli) query() *cobra.Command {
	var file, format string
	var remote faces.RemoteEndpoint
	var explain bool
	cmd := &cobra.Command{
		Use:   "query [QUERY]",
		Short: "Answer a SPARQL query",
		Example: `  odarchive query 'SELECT ?type (COUNT(*) AS ?n) { ?v <http://www.w3.org/ns/dcat#mediaType> ?type } GROUP BY ?type'
  odarchive query --file versions.rq --format csv
  odarchive query --explain 'SELECT * { ?s ?p ?o } LIMIT 10'
  odarchive query --endpoint https://archive.example.org/sparql 'ASK { ?s ?p ?o }'
  odarchive query --endpoint https://archive.example.org/sparql --explain 'SELECT * { ?s ?p ?o } LIMIT 10'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := c.text("query", args, file)
			if err != nil {
				return err
			}
			f, err := queryFormat(format)
			if err != nil {
				return err
			}
			remote.Token = c.cfg.Serve.Token
			switch {
			case remote.Address != "" && explain:
				return remote.Explain(cmd.Context(), text, c.stdout)
			case remote.Address != "":
				return remote.Query(cmd.Context(), text, f, c.stdout)
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				if explain {
					return n.Explain(cmd.Context(), text, c.stdout)
				}
				return n.WriteQuery(cmd.Context(), text, f, c.stdout)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&file, "file", "", "file with the query")
	fl.StringVar(&format, "format", "table", "table, json, xml, csv, tsv; for triples ttl, nt, rdfxml, jsonld")
	fl.StringVar(&remote.Address, "endpoint", "", "query this SPARQL endpoint instead of the data directory")
	c.cfg.TokenFlags(fl, "the token of the server of --endpoint")
	fl.BoolVar(&explain, "explain", false, "show how the query was answered, with rows and times")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{right: access.Read, alone: func() bool { return remote.Address != "" },
		inputs: func(args []string) []string { return textInput(args, file) }})
}

func queryFormat(name string) (faces.QueryFormat, error) {
	f := faces.QueryFormat{Rows: results.Table, Graph: rdfio.Turtle()}
	rows, isRows := results.ByName(name)
	graph, isGraph := rdfio.ByName(name)
	if isRows {
		f.Rows = rows
	}
	if isGraph {
		f.Graph = graph
	}
	if !isRows && !isGraph {
		return f, usagef("--format %q: expected table, json, xml, csv, tsv, ttl, nt, rdfxml or jsonld", name)
	}
	return f, nil
}

func (c *cli) update() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "update [UPDATE]",
		Short: "Apply a SPARQL update: all of it or nothing",
		Long:  "Apply a SPARQL update, all of it or nothing. If a server holds the archive, the command asks that server.",
		Example: `  odarchive update 'INSERT DATA { <http://example.org/a> <http://purl.org/dc/terms/title> "A" }'
  odarchive update --file changes.ru`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := c.text("update", args, file)
			if err != nil {
				return err
			}
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error {
				done, err := n.Update(cmd.Context(), text)
				if err != nil {
					return err
				}
				return c.print(done, "%d inserted, %d deleted", done.Inserted, done.Deleted)
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "file with the update")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Update, inputs: func(args []string) []string { return textInput(args, file) }})
}

func (c *cli) zip() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "zip QUERY -o FILE",
		Short: "Write the versions that a query selects as one zip",
		Long: `Write the versions that a SELECT query returns in any column as one zip: a version by its IRI, the latest version of a
file by its URL, or a file inside an archive by its IRI. The zip begins with manifest.json, metadata.ttl and
ro-crate-metadata.json (RO-Crate 1.2). Files that can no longer be unpacked are left out, and listed there with the reason.`,
		Example: `  odarchive zip 'SELECT ?v { ?f <http://purl.org/dc/terms/hasVersion> ?v }' -o versions.zip
  odarchive zip - -o versions.zip < query.rq`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := c.text("zip", args, "")
			if err != nil {
				return err
			}
			if out == "" {
				return usagef("zip needs -o FILE, or -o - for standard output")
			}
			return c.copying(cmd.Context(), func(n *app.Node) error { return c.writeZip(cmd.Context(), n, text, store.ZipCopy, out) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, - for standard output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{inputs: dashes})
}

// writeZip writes the zip of the versions that a query selects to a file, or to standard output as "-", and notes it as
// a copy of a kind. It says what it wrote,
// to standard output only if something was left out.
func (c *cli) writeZip(ctx context.Context, n *app.Node, query, kind, out string) error {
	release := n.Content.Hold() // keeps the sizes of the plan valid
	defer release()
	plan, err := n.Bundle(ctx, query)
	if err != nil {
		return err
	}
	bar := c.progress(plan.Size(), "bytes")
	defer bar.done()
	err = exporting{out: out, copy: kind}.noted(ctx, n, c.call != nil, func() error {
		return c.writeTo(out, func(w io.Writer) error {
			_, err := plan.WriteTo(&counted{w: w, bar: bar}, n.Content)
			return err
		})
	})
	if err == nil && (out != "-" || len(plan.LeftOut()) > 0) {
		fmt.Fprintln(c.stderr, zipDone(out, plan))
	}
	return err
}

// zipDone describes a zip that was written, and what was left out of it.
func zipDone(name string, plan *files.Plan) string {
	line := fmt.Sprintf("%s: %s, %d bytes", name, english.Plural(len(plan.Entries()), "file", ""), plan.Size())
	if n := len(plan.LeftOut()); n > 0 {
		line += fmt.Sprintf("; %d left out, as manifest.json says: %s", n, plan.LeftOut()[0].LeftOut)
		if n > 1 {
			line += ", …"
		}
	}
	return line
}

// counted shows the number of bytes written on a bar.
type counted struct {
	w   io.Writer
	bar *bar
	n   int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.bar.set(c.n, "")
	return n, err
}
