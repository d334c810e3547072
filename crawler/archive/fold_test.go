package archive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// visitApart commits a visit that begins a stretch whatever it finds, as each visit did in format 1 of the diary.
func visitApart(t *testing.T, a *Archive, act catalog.Activity) {
	t.Helper()
	id, err := records.ResourceID(act.URL)
	if err == nil {
		err = a.db.Update(t.Context(), func(txn *kv.Txn) error {
			r, _, err := records.Txn{Txn: txn}.Resource(id)
			before := r
			r.Stretch = 0
			return errors.Join(err, records.Txn{Txn: txn}.SaveResource(before, r))
		})
	}
	if err == nil {
		_, err = a.Commit(t.Context(), Visit{Activity: act}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unfold writes the diary as format 1 did: a record for each visit, and no timelines.
func unfold(t *testing.T, a *Archive) {
	t.Helper()
	err := a.db.Update(t.Context(), func(txn *kv.Txn) error {
		var visits []diary.Stretch
		err := diary.Txn{Txn: txn}.Stretches(t.Context(), func(s diary.Stretch) error { visits = append(visits, s); return nil })
		if err != nil {
			return err
		}
		for _, s := range visits {
			r, _, err := records.Txn{Txn: txn}.Resource(s.Resource)
			if err != nil {
				return err
			}
			act := s.Activity(r.URL)
			act.Visits = 0
			raw, err := json.Marshal(act)
			start := binary.BigEndian.AppendUint64(nil, ^uint64(s.Start()))
			before := r
			r.Stretch = 0
			err = errors.Join(err, txn.Set(kv.SpaceArchive, []byte("a"+string(start)+s.Resource), raw),
				txn.Set(kv.SpaceArchive, []byte("b"+s.Resource+string(start)), nil), records.Txn{Txn: txn}.SaveResource(before, r))
			if err != nil {
				return err
			}
		}
		for _, table := range []string{"u", "w"} {
			var keys [][]byte
			err := txn.Scan(kv.SpaceArchive, []byte(table), nil, func(k, _ []byte) (bool, error) { keys = append(keys, append([]byte{}, k...)); return true, nil })
			for _, k := range keys {
				err = errors.Join(err, txn.Delete(kv.SpaceArchive, k))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheVisitsOfAnOlderProgramAreFoldedWholeEvenIfInterrupted(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var urls []string
	for i := range 6 {
		seed := listed
		seed.URL = fmt.Sprintf("http://data.example/%d.csv", i)
		urls = append(urls, seed.URL)
		register(t, a, seed)
		visit(t, a, seed.URL, fmt.Sprintf("a,b\n1,%d\n", i), day.Add(time.Duration(i)*time.Second))
	}
	at := day.Add(time.Hour)
	for i := range 2000 {
		at = at.Add(time.Minute)
		act := catalog.Activity{URL: urls[i%5], Start: at, End: at.Add(time.Second), Outcome: catalog.Unchanged, Status: 304}
		if i > 500 && i < 600 {
			act.Outcome, act.ErrorClass, act.Status, act.Why = catalog.NoVersion, catalog.ErrHTTPStatus, 500+i/550, "it failed"
		}
		visitApart(t, a, act)
	}
	unfold(t, a)
	activities := func() (all []catalog.Activity) {
		t.Helper()
		all, err := a.Activities(t.Context(), catalog.ActivityQuery{Limit: 5000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			all[i].ID, all[i].Visits = "", 0
		}
		return all
	}
	before, many := activities(), len(triplesOf(t, a))
	if len(before) != 2006 {
		t.Fatalf("%d visits", len(before))
	}
	for interrupted := 0; ; interrupted++ {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := a.FoldVisits(ctx, func(int) { cancel() })
		cancel()
		if err == nil {
			if interrupted == 0 {
				t.Error("it was not interrupted")
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if n := len(activities()); n != 2006 {
			t.Fatalf("%d visits in between", n)
		}
	}
	after := activities()
	for i := range after {
		if after[i] != before[i] {
			t.Fatalf("visit %d was %+v and is %+v", i, before[i], after[i])
		}
	}
	stored := triplesOf(t, a)
	derived := map[term.Quad]bool{}
	err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			derived[q] = true
		}
		return nil
	})
	if err != nil || !maps.Equal(derived, stored) {
		t.Errorf("%d quads follow from the records, %d are stored, %v", len(derived), len(stored), err)
	}
	if len(stored) > many-1900*7 {
		t.Errorf("%d triples were, %d are", many, len(stored))
	}
	visitsOf := func(url string) int {
		t.Helper()
		n := 0
		acts, err := a.Activities(t.Context(), catalog.ActivityQuery{URL: url, Limit: 5000})
		for _, act := range acts {
			n += act.Visits
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := len(statement(stored, "startedAtTime"))
	if _, err := a.Commit(t.Context(), Visit{Activity: catalog.Activity{URL: urls[0], Start: at.Add(time.Hour), End: at.Add(time.Hour), Outcome: catalog.Unchanged, Status: 304}}, nil); err != nil {
		t.Fatal(err)
	}
	if now := len(statement(triplesOf(t, a), "startedAtTime")); now != was || visitsOf(urls[0]) != 402 {
		t.Errorf("the next visit made %d activities of %d; %d visits", now, was, visitsOf(urls[0]))
	}
	if n, err := a.FoldVisits(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestAStretchGoesOnBelowAnotherBase(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	for i := range 3 {
		if i == 2 {
			a.mint.Base = "http://other.example/"
		}
		at := day.Add(time.Duration(i) * time.Hour)
		act := catalog.Activity{URL: file, Start: at, End: at, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404, Why: "it is gone"}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	stored := triplesOf(t, a)
	err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			if !stored[q] {
				t.Errorf("not stored: %v", q)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
