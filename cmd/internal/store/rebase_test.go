package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/archive"
	description "odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/graphs"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func TestAnInterruptedRebaseIsCompletedWhenTheArchiveIsOpened(t *testing.T) {
	t.Parallel()
	const from, to, document = "http://a.example/", "https://b.example/archive/", "http://x.example/doc.ttl"
	const id = "0123456789abcdef01234567_0"
	dir := t.TempDir()
	s, err := openIn(t, dir, from, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	old, moved := ns.Mint{Base: from}, ns.Mint{Base: to}
	says := term.Quad{S: term.IRI(old.Version(id)), P: term.IRI("http://x.example/p"), O: term.IRI(old.Version(id))}
	contents, err := graphs.New(s.Mint, s.DB, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := contents.Prepare(t.Context(), document, []term.Quad{says})
	if err == nil {
		err = s.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
			if _, err := contents.Put(txn, content, "0123456789abcdef01234567", id); err != nil {
				return err
			}
			own, stranger := says, says
			own.G = term.IRI(old.Graph("http://portal.example/") + "#quality")
			stranger.S, stranger.O = term.IRI(from+"trees.csv"), term.String(old.Version(id))
			return errors.Join(txn.Insert(own), txn.Insert(stranger))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.described.Rebasing = to // as if the process had ended there
	s.described.addBase(to)
	if err := s.described.write(disk.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s, nil)

	s, err = openIn(t, dir, from, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { closeStore(t, s, nil) }()
	d := s.described.directory
	if d.Base != to || d.Rebasing != "" || !slices.Equal(d.Former, []string{from}) || !slices.Equal(s.Mint.Former, []string{to}) {
		t.Errorf("the description is %+v, the former bases of %s are %q", d, s.Mint.Base, s.Mint.Former)
	}
	var got []term.Quad
	if err := s.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { got = append(got, q); return nil }); err != nil {
		t.Fatal(err)
	}
	own := term.Quad{S: term.IRI(moved.Version(id)), P: says.P, O: term.IRI(moved.Version(id)),
		G: term.IRI(moved.Graph("http://portal.example/") + "#quality")}
	inDocument := says
	inDocument.G = term.IRI(moved.Graph(document))
	for _, want := range []term.Quad{own, inDocument, {S: term.IRI(from + "trees.csv"), P: says.P, O: term.String(old.Version(id))}} {
		if !slices.Contains(got, want) {
			t.Errorf("missing: %v", want)
		}
	}
	if contents, err = graphs.New(moved, s.DB, nil); err != nil {
		t.Fatal(err)
	}
	if err := contents.Verify(t.Context(), s.Triples, func(f graphs.Fault) { t.Errorf("content graph: %+v", f) }); err != nil {
		t.Error(err)
	}
}

func TestARebaseDescribesOnceWhatIsDescribedBelowTwoBases(t *testing.T) {
	t.Parallel()
	const from, to, url = "http://a.example/", "https://b.example/archive/", "http://x.example/a.csv"
	dir := t.TempDir()
	s, err := openIn(t, dir, from, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	if _, err := s.Archive.Register(t.Context(), day, archive.Listing{Seeds: []catalog.Seed{{URL: url}}}, nil); err != nil {
		t.Fatal(err)
	}
	var act catalog.Activity
	for i := range 3 {
		at := day.Add(time.Duration(i) * time.Hour)
		act = catalog.Activity{URL: url, Start: at, End: at, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404}
		if act, err = s.Archive.Commit(t.Context(), archive.Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s, nil)

	if s, err = openIn(t, dir, to, Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() { closeStore(t, s, nil) }()
	act.Start, act.Visits = day, 2 // as an older program described it again
	err = s.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		return description.Replace(txn, nil, description.Activity(ns.Mint{Base: to}, act))
	})
	if err != nil {
		t.Fatal(err)
	}
	if twice, _, err := s.Archive.CheckActivities(t.Context()); err != nil || twice != 1 {
		t.Errorf("%d are described twice before, %v", twice, err)
	}
	if _, err := s.Rebase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if twice, one, err := s.Archive.CheckActivities(t.Context()); err != nil || twice != 0 {
		t.Errorf("%d are described twice, such as %s, %v", twice, one, err)
	}
	visits := map[string]bool{}
	err = s.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
		if q.P == term.IRI(vocab.ArcVisits) {
			visits[q.O.Value()] = true
		}
		return nil
	})
	if err != nil || len(visits) != 1 || !visits["3"] {
		t.Errorf("visits: %v, %v", visits, err)
	}
}
