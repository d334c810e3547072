package store

import (
	"context"
	"fmt"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/follow/graphs"
	"odarchive/ns"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/term"
)

// Rebased is the result of Rebase. JSON names are stable.
type Rebased struct {
	Base    string   `json:"base"`
	Former  []string `json:"former"`  // stay known
	Triples uint64   `json:"triples"` // that name IRIs below former bases
	Graphs  int      `json:"graphs"`  // content graphs that were renamed
}

// Rebase writes all IRIs that the archive minted below other bases anew below s.Mint.Base, which is the archive's base
// from then on. The IRIs below the former bases stay known to Mint.Parse. What documents say (content graphs) stays as
// it is, except for the names of the graphs. If Rebase is interrupted, the next opening for writing completes it.
func (s *Store) Rebase(ctx context.Context) (Rebased, error) {
	d := &s.described
	d.addBase(s.Mint.Base)
	d.Rebasing = s.Mint.Base
	if err := d.write(disk.OS{}, s.Config.Data); err != nil {
		return Rebased{}, err
	}
	return s.rebase(ctx)
}

// RebaseDryRun returns what Rebase would do.
func (s *Store) RebaseDryRun(ctx context.Context) (done Rebased, err error) {
	m, _, err := s.moving(ctx, s.Mint.Base)
	if err != nil {
		return done, err
	}
	done = Rebased{Base: m.to, Former: m.formers}
	for name := range m.contents {
		if m.iri(name) != name {
			done.Graphs++
		}
	}
	err = s.Triples.Dump(ctx, term.Pattern{}, func(q term.Quad) error {
		if m.quad(q) != q {
			done.Triples++
		}
		return nil
	})
	return done, err
}

// rebase carries out or completes what the description says in Rebasing.
func (s *Store) rebase(ctx context.Context) (done Rebased, err error) {
	d := &s.described
	m, contents, err := s.moving(ctx, d.Rebasing)
	if err != nil {
		return done, err
	}
	done = Rebased{Base: m.to, Former: m.formers}
	err = s.Triples.Replace(ctx, func(remove, insert func(term.Quad) error) error {
		return s.Triples.Dump(ctx, term.Pattern{}, func(q term.Quad) error {
			moved := m.quad(q)
			if moved == q {
				return nil
			}
			done.Triples++
			if err := remove(q); err != nil {
				return err
			}
			return insert(moved)
		})
	})
	if err != nil {
		return done, fmt.Errorf("write IRIs anew below %s: %w", m.to, err)
	}
	// Activities that were described below several bases have several ends now.
	if _, err := archive.New(ns.Mint{Base: m.to}, s.DB, s.Triples, s.Content).MendActivities(ctx); err != nil {
		return done, err
	}
	if done.Graphs, err = contents.Rename(ctx, m.iri); err != nil {
		return done, fmt.Errorf("rename content graphs: %w", err)
	}
	if err := s.Dumps.Forget(); err != nil { // they have the IRIs before
		return done, err
	}
	d.Base, d.Former, d.Rebasing = m.to, m.formers, ""
	return done, d.write(disk.OS{}, s.Config.Data)
}

// moving returns how the IRIs below all other bases move to one, and the records of the content graphs.
func (s *Store) moving(ctx context.Context, to string) (m moving, contents *graphs.Store, err error) {
	m = moving{to: to, contents: map[string]bool{}}
	m.formers = slices.DeleteFunc(s.described.bases(), func(base string) bool { return base == to })
	if contents, err = graphs.New(s.Mint, s.DB, nil); err != nil {
		return m, nil, err
	}
	return m, contents, contents.Names(ctx, func(name string) { m.contents[name] = true })
}

// moving moves IRIs from former bases to another one.
type moving struct {
	formers  []string
	to       string
	contents map[string]bool // names of content graphs, before and after
}

// quad moves the terms of a quad. Of a statement in a content graph, it moves only the name of the graph.
func (m moving) quad(q term.Quad) term.Quad {
	moved := term.Quad{S: q.S, P: q.P, O: q.O, G: m.term(q.G)}
	if q.G == "" || !m.contents[q.G.Value()] {
		moved.S, moved.O = m.term(q.S), m.term(q.O)
	}
	return moved
}

func (m moving) term(k term.Key) term.Key {
	if k == "" || k.Kind() != term.KindIRI {
		return k
	}
	iri := k.Value()
	if moved := m.iri(iri); moved != iri {
		return term.IRI(moved)
	}
	return k
}

func (m moving) iri(iri string) string {
	if len(m.formers) == 0 {
		return iri
	}
	return ns.Mint{Base: m.formers[0], Former: m.formers[1:]}.Moved(iri, m.to)
}
