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

// rdfFlags are what load and dump share.
type rdfFlags struct{ graph, format string }

func (r *rdfFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.graph, "graph", "", "IRI of the graph; without it the default graph, or the graphs the file names")
	cmd.Flags().StringVar(&r.format, "format", "", "syntax (nt, nq, ttl, trig, rdfxml, jsonld, ...); without it, by file name")
}

func (r *rdfFlags) syntax(name string, head []byte) (rdfio.Syntax, error) {
	if r.format != "" {
		s, ok := rdfio.ByName(r.format)
		if !ok {
			return s, usagef("--format %q is no syntax known here; expected nt, nq, ttl, trig, rdfxml, jsonld, rdfjson or trix", r.format)
		}
		return s, nil
	}
	if s, ok := rdfio.ByExtension(name); ok {
		return s, nil
	}
	if s, ok := rdfio.Detect(head, name, ""); ok {
		return s, nil
	}
	return rdfio.Syntax{}, usagef("%s: the syntax cannot be told by its name; say --format nt, nq, ttl, trig, rdfxml or jsonld", name)
}

func (c *cli) load() *cobra.Command {
	var flags rdfFlags
	var base string
	var skipBad bool
	cmd := &cobra.Command{
		Use:   "load FILE...",
		Short: "Load RDF files",
		Long:  "Load RDF files of any syntax, compressed or not. A file that breaks off loads nothing of itself (see --skip-bad).",
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
				return c.print(map[string]int64{"triples": total}, "%d triples", total)
			})
		},
	}
	flags.bind(cmd)
	cmd.Flags().StringVar(&base, "document-base", "", "IRI that relative IRIs are resolved against; without it the file's own")
	cmd.Flags().BoolVar(&skipBad, "skip-bad", false, "leave out statements that cannot be read, and count them")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// sniffed is how much of a file is looked at to tell its syntax.
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
	reader := rdfio.NewReader(text, syntax, rdfio.Options{File: name, Base: base, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true})
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
		fmt.Fprintf(c.stderr, "%s: %d statements could not be read and were left out\n", name, bad)
	}
	return int64(loaded.Added), err
}

// quads is a function as a triplestore.QuadReader.
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
	cmd.Flags().Uint64Var(&since, "since", 0, "only what commits after this position changed: N-Quads behind '+' or '-'")
	c.readOnlyFlag(cmd)
	return cmd
}
