package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"

	"github.com/klauspost/compress/gzip"
)

// Making dumps is tried again after dumpHeld if a withdrawal came, and after dumpAgain if it failed, for instance
// because the disk is full.
const (
	dumpHeld  = time.Minute
	dumpAgain = time.Hour
)

// ReloadDumps makes a running server follow changed settings of dumps, which were checked. Dumps of a kind that is no
// longer made are removed by the next ones.
func (s *Store) ReloadDumps(settings config.Dumps) {
	s.dumped.Store(&settings)
	select {
	case s.redump <- struct{}{}:
	default: // KeepDumped has not looked since the change before
	}
}

// KeepDumped makes dumps at the times of the settings, which ReloadDumps may change, and anew when damaged ones were
// discarded, until ctx ends. A failure is logged and tried again.
func (s *Store) KeepDumped(ctx context.Context) error {
	pause := time.Duration(0) // at least so long
	for {
		every := s.dumped.Load().Every
		var due <-chan time.Time // nil, so that it never comes, if no dumps are made
		stop := func() bool { return true }
		if every > 0 {
			_, last, err := s.Dumps.List()
			if err != nil {
				return err
			}
			timer := time.NewTimer(max(pause, untilDump(s.Clock(), last, every)))
			due, stop = timer.C, timer.Stop
		}
		select {
		case <-due:
		case <-s.redump:
			stop()
			pause = 0
			continue
		case <-s.Dumps.Due():
			stop()
			continue // a pause after a failure stays
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
		pause = 0
		switch err := s.MakeDumps(ctx); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrDumpHeld):
			pause = dumpHeld
		case err != nil:
			pause = min(dumpAgain, every)
			s.Log.Error("dumps of the triples were not made, and those before stay", "again", pause, "error", err)
		}
	}
}

// untilDump returns how long it is until dumps are due. A time in the future was written by a clock that was wrong.
func untilDump(now, last time.Time, every time.Duration) time.Duration {
	if last.IsZero() {
		return 0
	}
	return min(max(last.Add(every).Sub(now), 0), every)
}

// MakeDumps makes dumps of all kinds in the settings, from one snapshot. The error is dumps.ErrHeld if withdrawn bytes
// are being removed. If HDT cannot express the default graph, the other dump is made all the same, and that is logged.
func (s *Store) MakeDumps(ctx context.Context) error {
	settings, began := *s.dumped.Load(), time.Now()
	err := s.Dumps.Make(ctx, s.Clock(), settings.Keep, settings.Kinds, func(ctx context.Context, put PutDump) error {
		return s.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
			for _, kind := range settings.Kinds {
				err := put(kind, func(w io.Writer) error {
					if kind == catalog.DumpHDT {
						return s.dumpHDT(ctx, sn, w)
					}
					return dumpNQuads(ctx, sn, w)
				})
				if _, unfit := errors.AsType[*rdfio.TermError](err); unfit && len(settings.Kinds) > 1 {
					s.Log.Error("a dump cannot express the triples", "kind", kind, "error", err)
					continue
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("make dumps: %w", err)
	}
	s.Log.Info("dumps of the triples made", "kinds", settings.Kinds, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// dumpNQuads writes all quads of a snapshot as compressed N-Quads.
func dumpNQuads(ctx context.Context, sn *triplestore.Snapshot, w io.Writer) error {
	z := gzip.NewWriter(w)
	out := rdfio.NewWriter(z, rdfio.NQuads(), nil)
	if err := sn.Dump(ctx, term.Pattern{}, yielding(ctx, out.Write)); err != nil {
		return err
	}
	return errors.Join(out.Close(), z.Close())
}

// dumpHDT writes the default graph of a snapshot as HDT.
func (s *Store) dumpHDT(ctx context.Context, sn *triplestore.Snapshot, w io.Writer) error {
	out := hdt.NewWriter(hdt.WriterOptions{Base: s.Config.Base, TempDir: filepath.Join(s.Config.Data, "tmp"), Memory: 64 << 20})
	defer out.Close()
	id, ok, err := sn.Graph("")
	if err == nil && ok {
		err = sn.Dump(ctx, term.Pattern{G: id}, yielding(ctx, func(q term.Quad) error {
			q.G = ""
			return out.Write(q)
		}))
	}
	if err != nil {
		return err
	}
	return out.Finish(ctx, w)
}

const (
	yieldAfter = 4096             // quads
	maxYield   = 10 * time.Second // for a system that was asleep in between
)

// yielding returns f with pauses that are as long as the work before them, so that a dump takes at most half of one
// processor from visitors and the crawl.
func yielding(ctx context.Context, f func(term.Quad) error) func(term.Quad) error {
	n, began := 0, time.Now()
	return func(q term.Quad) error {
		if n++; n%yieldAfter == 0 {
			timer := time.NewTimer(min(time.Since(began), maxYield))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return context.Cause(ctx)
			}
			began = time.Now()
		}
		return f(q)
	}
}
