package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/inspect/rdffiles"
	"odarchive/sparqlapi/operate/access"
	"odarchive/triplestore/term"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// rdfFlags are flags of load and dump.
type rdfFlags struct{ graph, format string }

func (r *rdfFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.graph, "graph", "", "IRI of the graph; by default the default graph, or the graphs in the file")
	cmd.Flags().StringVar(&r.format, "format", "",
		"syntax (nt, nq, ttl, trig, rdfxml, jsonld, hdt, ...); by default from the file name or the content")
}

// parse returns the format that --format names; the zero Format if it names none.
func (r *rdfFlags) parse() (rdffiles.Format, error) {
	if r.format == "" {
		return rdffiles.Format{}, nil
	}
	f, ok := rdffiles.FormatOf(r.format)
	if !ok {
		return f, usagef("--format %q is not a known syntax; expected nt, nq, ttl, trig, rdfxml, jsonld, rdfjson, trix or hdt", r.format)
	}
	return f, nil
}

func (c *cli) load() *cobra.Command {
	var flags rdfFlags
	var base string
	var skipBad bool
	cmd := &cobra.Command{
		Use:   "load FILE...",
		Short: "Load RDF files",
		Long: `Load RDF files of any syntax or HDT, compressed or not, the RDF files in archives (zip, tar, 7z, rar; archives inside
them stay closed), and the JSON-LD, Microdata, RDFa and Microformats 2 of HTML pages. If a file has an error, nothing
of it is loaded (but see --skip-bad).

If a server holds the archive, or with --endpoint, the files are sent to that server. It answers and crawls meanwhile; what
it has to write waits only while the statements, which it has read by then, are merged with the others.`,
		Example: `  odarchive load catalog.ttl
  odarchive load dump.nt.gz --graph http://example.org/graph
  zcat dump.nq.gz | odarchive load - --format nq
  odarchive load dataset.hdt dumps.zip page.html
  odarchive load catalog.ttl --endpoint https://archive.example.org/ --token "$SECRET"`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error {
				var total int64
				bars := c.loadProgress(args)
				defer bars.done()
				for _, name := range args {
					loaded, err := c.loadFile(cmd, n, name, bars, flags, base, skipBad)
					if err != nil {
						return err
					}
					total += loaded
				}
				if err := n.Triples.IndexLiterals(cmd.Context()); err != nil {
					return err
				}
				return c.summary(map[string]int64{"triples": total}, "%d triples", total)
			})
		},
	}
	flags.bind(cmd)
	cmd.Flags().StringVar(&base, "document-base", "", "IRI to resolve relative IRIs against; by default that of the file")
	cmd.Flags().BoolVar(&skipBad, "skip-bad", false, "skip statements with errors, and print how many there were")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Update, inputs: func(args []string) []string { return args }})
}

func (c *cli) loadFile(cmd *cobra.Command, n *app.Node, name string, bars *loadBars, flags rdfFlags, base string, skipBad bool) (int64,
	error) {
	in, err := c.openInput(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if name != "-" && base == "" {
		if abs, err := c.absolute(name); err == nil {
			base = (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String()
		}
	}
	format, err := flags.parse()
	if err != nil {
		return 0, err
	}
	bars.begin(in)
	var seen, bad int64
	part := name
	source, err := rdffiles.Open(cmd.Context(), in, name, rdffiles.Options{
		Format: format, Base: base, TempDir: filepath.Join(c.cfg.Data, "tmp"), Skip: skipBad,
		Bad: func(err error) {
			if bad++; bad <= 20 {
				fmt.Fprintln(c.stderr, "skipped:", sentence(err))
			}
		},
		Ignored: func(members []string) {
			fmt.Fprintf(c.stderr, "%s: %s\n", name, ignored(members))
		},
		Member: func(path string) { part = name + ": " + path },
	})
	if errors.Is(err, rdffiles.ErrSyntax) {
		err = usageError{err}
	}
	if err != nil {
		return 0, err
	}
	defer source.Close()
	next := quads(func() (term.Quad, error) {
		q, err := source.Read()
		if seen++; seen%65536 == 0 {
			bars.set(seen, part)
		}
		if flags.graph != "" {
			q.G = term.IRI(flags.graph)
		}
		return q, err
	})
	load := n.Triples.Load
	if c.call != nil { // a client may send slowly, and the server has other things to write
		load = n.Triples.LoadAside
	}
	loaded, err := load(cmd.Context(), next)
	if bad > 0 {
		fmt.Fprintf(c.stderr, "%s: skipped %d statements with errors\n", name, bad)
	}
	return int64(loaded.Added), err
}

// loadBars show how much of files is loaded: in bytes where files are read from their beginning to their end, or else
// in triples.
type loadBars struct {
	bytes, triples *bar
	size           int64 // of all files, -1 if it is not known
	file           *os.File
	before, now    int64 // bytes of the files before, and of this one
}

func (c *cli) loadProgress(names []string) *loadBars {
	b := &loadBars{size: -1}
	if c.call == nil {
		b.size = sizeOfAll(names)
	}
	b.bytes, b.triples = c.progress(b.size, "bytes"), c.progress(-1, "triples")
	return b
}

// begin begins with a file.
func (b *loadBars) begin(in io.Reader) {
	b.before += b.now
	b.file, b.now = nil, 0
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil {
			b.file, b.now = file, info.Size()
		}
	}
}

func (b *loadBars) set(triples int64, part string) {
	if b.file != nil && b.size > 0 {
		if at, err := b.file.Seek(0, io.SeekCurrent); err == nil && at > 0 { // archives and HDT are read at random
			b.bytes.set(b.before+at, fmt.Sprintf("%s triples, %s", humanize.Comma(triples), part))
			return
		}
	}
	b.triples.set(triples, part)
}

func (b *loadBars) done() { b.bytes.done() }

// ignored says which members of an archive were not loaded.
func ignored(members []string) string {
	const named = 5
	list := make([]string, 0, named+1)
	for _, m := range members[:min(len(members), named)] {
		list = append(list, printable(m))
	}
	if len(members) > named {
		list = append(list, "...")
	}
	return fmt.Sprintf("not loaded, since they are not RDF: %s (%s)", english.Plural(len(members), "member", ""), strings.Join(list, ", "))
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
  odarchive dump --graph http://example.org/graph --format ttl
  odarchive dump --format hdt > default-graph.hdt`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.format == "" {
				flags.format = "nq"
			}
			format, err := flags.parse()
			if err != nil {
				return err
			}
			if format.Page {
				return usagef("--format %q can be loaded, but not written", flags.format)
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				if cmd.Flags().Changed("since") {
					return n.DumpChanges(cmd.Context(), c.stdout, since)
				}
				if format.HDT {
					return n.DumpHDT(cmd.Context(), c.stdout, flags.graph)
				}
				return n.Dump(cmd.Context(), c.stdout, format.Syntax, flags.graph)
			})
		},
	}
	flags.bind(cmd)
	cmd.Flags().Uint64Var(&since, "since", 0, "only the changes after this position of the log: N-Quads after '+' or '-'")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{right: access.Read})
}
