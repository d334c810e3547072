package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/exchange/derive"
	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/exchange/webgraph"

	"github.com/spf13/cobra"
)

func (c *cli) warcGraph() *cobra.Command {
	var level, format string
	cmd := &cobra.Command{
		Use:   "graph FILE...",
		Short: "Write the links between the pages of WARC and WAT files",
		Long: `Write the links that a person can click, from the pages of WARC files or from WAT files: a line FROM TO for each link of
each page, or a graph in DOT or GraphML with each edge once.`,
		Example: `  odarchive warc graph crawl.warc.gz > edges.txt
  odarchive warc graph CC-MAIN.warc.wat.gz --level domain --format graphml > domains.graphml
  odarchive warc graph wat.paths.gz --level host > hosts.txt   # the files beside the list that it names`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := webgraph.ParseLevel(level)
			if err != nil {
				return usagef("--level %w", err)
			}
			out := bufio.NewWriterSize(c.stdout, 256<<10)
			w, err := newEdges(out, format)
			if err != nil {
				return err
			}
			found := &faults{out: c.stderr}
			w.begin()
			err = c.eachWARC(cmd.Context(), args, func(_ *wacz.Opened, file wacz.File) error {
				in, done := c.readWARC(cmd.Context(), file)
				defer done()
				if err := webgraph.Edges(in, l, w.edge, found.of(file.Name)); err != nil {
					return fmt.Errorf("%s: %w", file.Name, err)
				}
				return nil
			})
			if err == nil {
				w.end()
			}
			if err := errors.Join(err, out.Flush()); err != nil {
				return err
			}
			return found.err()
		},
	}
	cmd.Flags().StringVar(&level, "level", "url", "nodes: url, host, or domain, the registered one")
	cmd.Flags().StringVar(&format, "format", "edges", "edges (FROM TO a line), dot or graphml")
	return cmd
}

// edges writes a graph in one format. Errors of writing are kept by out; its Flush returns them.
type edges struct {
	out    *bufio.Writer
	format string
	nodes  map[string]int  // numbers of the nodes, for graphml
	known  map[string]bool // edges written, for dot and graphml
}

func newEdges(out *bufio.Writer, format string) (*edges, error) {
	switch format {
	case "edges", "dot", "graphml":
		return &edges{out: out, format: format, nodes: map[string]int{}, known: map[string]bool{}}, nil
	}
	return nil, usagef("--format %q: expected edges, dot or graphml", format)
}

func (e *edges) begin() {
	switch e.format {
	case "dot":
		e.out.WriteString("digraph links {\n")
	case "graphml":
		e.out.WriteString(xml.Header +
			"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n<key id=\"address\" for=\"node\" attr.name=\"address\" " +
			"attr.type=\"string\"/>\n<graph id=\"links\" edgedefault=\"directed\">\n")
	}
}

func (e *edges) edge(from, to string) error {
	if e.format == "edges" {
		_, err := e.out.WriteString(from + " " + to + "\n")
		return err
	}
	if key := from + " " + to; e.known[key] {
		return nil
	} else {
		e.known[key] = true
	}
	if e.format == "dot" {
		_, err := fmt.Fprintf(e.out, "  %s -> %s;\n", dotName(from), dotName(to))
		return err
	}
	_, err := fmt.Fprintf(e.out, "<edge source=\"n%d\" target=\"n%d\"/>\n", e.node(from), e.node(to))
	return err
}

// dotName returns a quoted name in DOT. Only quotation marks can be escaped there; backslashes are percent-encoded,
// since one at the end would escape the closing mark.
func dotName(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `%5C`), `"`, `\"`) + `"`
}

// node returns the number of a node. It writes the node if it is new.
func (e *edges) node(name string) int {
	n, ok := e.nodes[name]
	if !ok {
		n = len(e.nodes)
		e.nodes[name] = n
		e.out.WriteString("<node id=\"n" + strconv.Itoa(n) + "\"><data key=\"address\">")
		_ = xml.EscapeText(e.out, []byte(name)) // out keeps the error
		e.out.WriteString("</data></node>\n")
	}
	return n
}

func (e *edges) end() {
	switch e.format {
	case "dot":
		e.out.WriteString("}\n")
	case "graphml":
		e.out.WriteString("</graph>\n</graphml>\n")
	}
}

// warcDerive returns a command that makes derived files of one kind.
func (c *cli) warcDerive(name, what, long string, kind derive.Kind) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     name + " FILE... [-o FILE]",
		Short:   "Write " + what + " of WARC files, as Common Crawl does (" + strings.ToUpper(name) + ")",
		Long:    long,
		Example: "  odarchive warc " + name + " crawl.warc.gz -o crawl.warc." + name + ".gz",
		Args:    atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found := &faults{out: c.stderr}
			err := c.writeTo(out, func(dst io.Writer) error {
				w := warc.NewWriter(dst)
				if err := w.Write(derive.Info(what+" of "+filepath.Base(args[0]), warc.FormatDate(time.Unix(0, 0)))); err != nil {
					return err
				}
				return c.eachWARC(cmd.Context(), args, func(_ *wacz.Opened, file wacz.File) error {
					in, done := c.readWARC(cmd.Context(), file)
					defer done()
					if _, err := derive.Make(filepath.Base(file.Name), in, w, kind, found.of(file.Name)); err != nil {
						return fmt.Errorf("%s: %w", file.Name, err)
					}
					return nil
				})
			})
			if err != nil {
				return err
			}
			return found.err()
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "-", "file to write; - for standard output. It is compressed")
	return cmd
}

func (c *cli) warcWAT() *cobra.Command {
	return c.warcDerive("wat", "descriptions",
		`Write a WARC file with a metadata record for each response: its WARC and HTTP heads as JSON, and title and links of pages.`,
		derive.WAT)
}

func (c *cli) warcWET() *cobra.Command {
	return c.warcDerive("wet", "texts", `Write a WARC file with a conversion record for each web page: its text, a line for each block.`,
		derive.WET)
}
