package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"odarchive/triplestore"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Dump writes one graph, or every graph if graph is empty, from one snapshot and ordered by subject. A syntax without
// named graphs gets the default graph.
func (s *Store) Dump(ctx context.Context, w io.Writer, syntax rdfio.Syntax, graph string) error {
	return s.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
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

// DumpHDT writes one graph, the default graph if graph is empty, as HDT.
func (s *Store) DumpHDT(ctx context.Context, w io.Writer, graph string) error {
	temp := filepath.Join(s.Config.Data, "tmp")
	if s.ReadOnlyReason != "" {
		temp = "" // the system's
	}
	out := hdt.NewWriter(hdt.WriterOptions{Base: cmp.Or(graph, s.Config.Base), TempDir: temp})
	defer out.Close()
	err := s.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		name := term.Key("")
		if graph != "" {
			name = term.IRI(graph)
		}
		id, ok, err := sn.Graph(name)
		if err != nil || !ok {
			return err
		}
		return sn.Dump(ctx, term.Pattern{G: id}, func(q term.Quad) error {
			q.G = ""
			return out.Write(q)
		})
	})
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return out.Finish(ctx, w)
}

// DumpChanges writes the changes of every commit after a position: a line "# POSITION", then N-Quads that begin with
// "- " or "+ ".
func (s *Store) DumpChanges(ctx context.Context, w io.Writer, since uint64) error {
	newest := uint64(0)
	err := s.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		newest = sn.Position()
		return nil
	})
	if err == nil && since > newest { // restored from an older backup, perhaps: what was read of it no longer holds
		err = fmt.Errorf("the log of changes ends at position %d, before %d: start over with a dump of everything", newest, since)
	}
	if err != nil {
		return err
	}
	_, err = s.Triples.Changes(ctx, since, func(c triplestore.Commit) error {
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
