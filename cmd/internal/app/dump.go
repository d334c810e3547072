package app

import (
	"context"
	"fmt"
	"io"

	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Dump writes one graph, or all of them where graph is "", in the order of subjects and from one state. Syntaxes
// without named graphs get the default graph.
func (n *Node) Dump(ctx context.Context, w io.Writer, syntax rdfio.Syntax, graph string) error {
	return n.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		out := rdfio.NewWriter(w, syntax, vocab.Prefixes())
		pattern := term.Pattern{}
		if graph != "" || !syntax.Quads {
			name := term.Key("")
			if graph != "" {
				name = term.IRI(graph)
			}
			id, ok, err := sn.Graph(name)
			if err != nil {
				return fmt.Errorf("dump: %w", err)
			}
			if !ok {
				return out.Close()
			}
			pattern.G = id
		}
		err := sn.Dump(ctx, pattern, func(q term.Quad) error {
			if !syntax.Quads {
				q.G = ""
			}
			return out.Write(q)
		})
		if err != nil {
			return fmt.Errorf("dump: %w", err)
		}
		return out.Close()
	})
}

// DumpChanges writes what commits after a position changed: a line "# POSITION" for each, then N-Quads behind "- " or
// "+ ".
func (n *Node) DumpChanges(ctx context.Context, w io.Writer, since uint64) error {
	_, err := n.Triples.Changes(ctx, since, func(c triplestore.Commit) error {
		if _, err := fmt.Fprintf(w, "# %d\n", c.Position); err != nil {
			return err
		}
		if err := writeChanged(w, "- ", c.Removed); err != nil {
			return err
		}
		return writeChanged(w, "+ ", c.Added)
	})
	return err
}

func writeChanged(w io.Writer, sign string, quads []term.Quad) error {
	out := rdfio.NewWriter(&prefixed{w: w, prefix: sign, atStart: true}, rdfio.NQuads(), nil)
	for _, q := range quads {
		if err := out.Write(q); err != nil {
			return err
		}
	}
	return out.Close()
}

// prefixed writes a prefix before each line.
type prefixed struct {
	w       io.Writer
	prefix  string
	atStart bool
}

func (p *prefixed) Write(b []byte) (int, error) {
	out := make([]byte, 0, len(b)+64)
	for _, c := range b {
		if p.atStart {
			out = append(out, p.prefix...)
		}
		out = append(out, c)
		p.atStart = c == '\n'
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
