package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"

	"github.com/spf13/cobra"
)

// rdfFlags are flags of load and dump.
type rdfFlags struct{ graph, format string }

func (r *rdfFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.graph, "graph", "", "IRI of the graph; by default the default graph, or the graphs in the file")
	cmd.Flags().StringVar(&r.format, "format", "", "syntax (nt, nq, ttl, trig, rdfxml, jsonld, ...); by default from the file name")
}

func (r *rdfFlags) syntax(name string, head []byte) (rdfio.Syntax, error) {
	if r.format != "" {
		s, ok := rdfio.ByName(r.format)
		if !ok {
			return s, usagef("--format %q is not a known syntax; expected nt, nq, ttl, trig, rdfxml, jsonld, rdfjson or trix", r.format)
		}
		return s, nil
	}
	if s, ok := rdfio.ByExtension(name); ok {
		return s, nil
	}
	if s, ok := rdfio.Detect(head, name, ""); ok {
		return s, nil
	}
	return rdfio.Syntax{}, usagef("%s: the syntax cannot be detected; give --format nt, nq, ttl, trig, rdfxml or jsonld", name)
}

func (c *cli) load() *cobra.Command {
	var flags rdfFlags
	var base string
	var skipBad bool
	cmd := &cobra.Command{
		Use:   "load FILE...",
		Short: "Load RDF files",
		Long:  "Load RDF files of any syntax, compressed or not. If a file has an error, nothing of it is loaded (but see --skip-bad).",
		Example: `  odarchive load catalog.ttl
  odarchive load dump.nt.gz --graph http://example.org/graph
  zcat dump.nq.gz | odarchive load - --format nq`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error {
				var total int64
				for _, name := range args {
					loaded, err := c.loadFile(cmd, n, name, flags, base, skipBad)
					if err != nil {
						return err
					}
					total += loaded
				}
				if err := n.Triples.IndexLiterals(cmd.Context()); err != nil {
					return err
				}
				return c.print(map[string]int64{"triples": total}, "%d triples", total)
			})
		},
	}
	flags.bind(cmd)
	cmd.Flags().StringVar(&base, "document-base", "", "IRI to resolve relative IRIs against; by default that of the file")
	cmd.Flags().BoolVar(&skipBad, "skip-bad", false, "skip statements with errors, and print how many there were")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// sniffed is how much of a file is read to detect its syntax.
const sniffed = 4096

func (c *cli) loadFile(cmd *cobra.Command, n *app.Node, name string, flags rdfFlags, base string, skipBad bool) (int64, error) {
	in := io.NopCloser(c.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		in = f
		if base == "" {
			if abs, err := filepath.Abs(name); err == nil {
				base = "file://" + filepath.ToSlash(abs)
			}
		}
	}
	defer in.Close()
	plain, err := rdfio.Decompress(in, name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer plain.Close()
	text := bufio.NewReaderSize(plain, sniffed)
	head, err := text.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	syntax, err := flags.syntax(name, head)
	if err != nil {
		return 0, err
	}
	reader := rdfio.NewReader(text, syntax, rdfio.Options{File: name, Base: base, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true, LongTags: true})
	bar := c.progress(-1, "triples")
	defer bar.done()
	var seen, bad int64
	next := quads(func() (term.Quad, error) {
		for {
			q, err := reader.Read()
			if err != nil && !errors.Is(err, io.EOF) && skipBad && reader.Skip() {
				if bad++; bad <= 20 {
					fmt.Fprintln(c.stderr, "skipped:", sentence(err))
				}
				continue
			}
			if seen++; seen%65536 == 0 {
				bar.set(seen, name)
			}
			if flags.graph != "" {
				q.G = term.IRI(flags.graph)
			}
			return q, err
		}
	})
	loaded, err := n.Triples.Load(cmd.Context(), next)
	if bad > 0 {
		fmt.Fprintf(c.stderr, "%s: skipped %d statements with errors\n", name, bad)
	}
	return int64(loaded.Added), err
}

// quads implements triplestore.QuadReader by a function.
type quads func() (term.Quad, error)

func (q quads) Read() (term.Quad, error) { return q() }

func (c *cli) dump() *cobra.Command {
	var flags rdfFlags
	var since uint64
	cmd := &cobra.Command{
		Use:   "dump",
		Short: "Write the triples as RDF to standard output",
		Example: `  odarchive dump > everything.nq
  odarchive dump --graph http://example.org/graph --format ttl`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.format == "" {
				flags.format = "nq"
			}
			syntax, err := flags.syntax("", nil)
			if err != nil {
				return err
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				if cmd.Flags().Changed("since") {
					return n.DumpChanges(cmd.Context(), c.stdout, since)
				}
				return n.Dump(cmd.Context(), c.stdout, syntax, flags.graph)
			})
		},
	}
	flags.bind(cmd)
	cmd.Flags().Uint64Var(&since, "since", 0, "only the changes after this position of the log: N-Quads after '+' or '-'")
	c.readOnlyFlag(cmd)
	return cmd
}
