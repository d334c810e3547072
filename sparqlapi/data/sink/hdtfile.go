package sink

import (
	"context"
	"errors"
	"os"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/term"
)

// HDT is a target: an HDT file of one graph. After changes of the graph, the whole file is written anew. A second file,
// with the suffix .position, has the position that the copy has reached.
type HDT struct {
	Path    string
	Graph   term.Key // "" is the default graph
	Base    string   // IRI of the file in its own header
	TempDir string   // directory for temporary files; "" is the system's
}

const positionSuffix = ".position"

// Sync implements Target.
func (t HDT) Sync(ctx context.Context, s Source, wait time.Duration) (round Round, err error) {
	stored, known, err := readStored(t.Path + positionSuffix)
	if err != nil {
		return round, err
	}
	at := Position{stored.Log, stored.Position}
	if info, err := os.Stat(t.Path); err != nil || info.Size() != stored.Size || stored.Graph != t.Graph {
		known = false // the file was cut or replaced, or has another graph
	}
	var next Position
	if known {
		next, err = s.Changes(ctx, at, wait, func(c triplestore.Commit) error {
			for _, q := range c.Removed {
				if q.G == t.Graph {
					round.Removed++
				}
			}
			for _, q := range c.Added {
				if q.G == t.Graph {
					round.Added++
				}
			}
			return nil
		})
	}
	if !known || errors.Is(err, ErrGone) {
		round = Round{Begun: true}
		next, err = s.Position(ctx)
	}
	if err != nil {
		return round, err
	}
	if round.Begun || round.Added+round.Removed > 0 {
		if err := t.write(ctx, s, &round); err != nil {
			return round, err
		}
	}
	round.Position = next
	if known && next == at && !round.Begun {
		return round, nil
	}
	info, err := os.Stat(t.Path)
	if err != nil {
		return round, err
	}
	return round, writeStored(t.Path+positionSuffix, storedPosition{Log: next.Log, Position: next.N, Graph: t.Graph, Size: info.Size()})
}

// write writes the file from the current state of the graph.
func (t HDT) write(ctx context.Context, s Source, round *Round) error {
	w := hdt.NewWriter(hdt.WriterOptions{Base: t.Base, TempDir: t.TempDir})
	defer w.Close()
	if err := s.Graph(ctx, t.Graph, w.Write); err != nil {
		return err
	}
	round.Files++
	err := replaceFile(t.Path, func(f *os.File) error { return w.Finish(ctx, f) })
	if err == nil && round.Begun {
		round.Added = int64(w.Triples())
	}
	return err
}
