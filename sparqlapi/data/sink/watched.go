package sink

import (
	"context"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// Progress is what a round has read of its source.
type Progress struct {
	Quads int64
	Total int64 // of the quads that are read, -1 if that is not known, as of changes
	// Commits of AllCommits have been read; both are 0 while everything is read.
	Commits, AllCommits uint64
}

// Watched returns a source that tells of what is read of it: of each commit, and every thousand quads.
func Watched(s Source, tell func(Progress)) Source {
	return &watched{Source: s, tell: tell, read: Progress{Total: -1}}
}

type watched struct {
	Source
	read Progress
	tell func(Progress)
}

func (w *watched) count(n int) {
	before := w.read.Quads
	if w.read.Quads += int64(n); before/1000 != w.read.Quads/1000 {
		w.tell(w.read)
	}
}

// measure finds out how many quads there are, of which all will be read. Without that, there is progress all the same.
func (w *watched) measure(ctx context.Context) {
	w.read = Progress{Total: -1}
	if n, err := w.Source.Quads(ctx); err == nil && n > 0 {
		w.read.Total = n
	}
}

func (w *watched) Dump(ctx context.Context, begin func(Position) error, f func(term.Quad) error) error {
	w.measure(ctx)
	return w.Source.Dump(ctx, begin, func(q term.Quad) error { w.count(1); return f(q) })
}

func (w *watched) Graphs(ctx context.Context, f func(term.Key) error) error {
	w.measure(ctx)
	return w.Source.Graphs(ctx, f)
}

func (w *watched) Graph(ctx context.Context, g term.Key, f func(term.Quad) error) error {
	return w.Source.Graph(ctx, g, func(q term.Quad) error { w.count(1); return f(q) })
}

func (w *watched) Changes(
	ctx context.Context, after Position, wait time.Duration, f func(triplestore.Commit) error,
) (Position, error) {
	if newest, err := w.Source.Position(ctx); err == nil && newest.Log == after.Log && newest.N > after.N {
		w.read.AllCommits = newest.N - after.N
	}
	return w.Source.Changes(ctx, after, wait, func(c triplestore.Commit) error {
		w.read.Commits = c.Position - after.N
		w.read.AllCommits = max(w.read.AllCommits, w.read.Commits)
		w.read.Quads += int64(len(c.Added) + len(c.Removed))
		w.tell(w.read)
		return f(c)
	})
}
