package joining_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/joining"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/queue/supervise"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

var day = time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)

// world is an archive, and what a second queue over its stores needs.
type world struct {
	*archive.Archive
	t       *testing.T
	triples *triplestore.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := content.Open(t.TempDir(), db, content.Options{NoSync: true, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(bytes.Close(), triples.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	w := &world{archive.New(ns.Mint{Base: "http://archive.example/"}, db, triples, bytes), t, triples}
	if err := w.OpenJoins(t.Context()); err != nil { // marks the index as current
		t.Fatal(err)
	}
	return w
}

// visit registers a URL and commits a fetch that brought a body.
func (w *world) visit(url, body string, at time.Time) {
	w.t.Helper()
	ctx := w.t.Context()
	if _, err := w.Register(ctx, day, archive.Listing{Seeds: []catalog.Seed{{URL: url}}}, nil); err != nil {
		w.t.Fatal(err)
	}
	ref, err := w.Bytes().Put(ctx, strings.NewReader(body), content.PutOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	profile, err := csvprofile.Read(ctx, strings.NewReader(body), csvprofile.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.Commit(ctx, archive.Visit{
		Activity: catalog.Activity{URL: url, Start: at, End: at, Outcome: catalog.Archived, Status: 200},
		Kept:     &archive.Kept{Ref: ref, Type: "text/csv", Inside: &inspect.Inside{Tables: []*csvprofile.Profile{profile}}},
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
}

// restart returns the queue that a new process would have.
func (w *world) restart() *joining.Queue {
	w.t.Helper()
	q := joining.New(w.Mint(), w.DB(), w.triples)
	if err := q.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) join(q *joining.Queue) {
	w.t.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = q.Join(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	if q.Len() != 0 {
		w.t.Errorf("%d versions still wait", q.Len())
	}
}

func (w *world) latest(url string) string {
	w.t.Helper()
	v, err := w.Latest(w.t.Context(), url)
	if err != nil {
		w.t.Fatal(err)
	}
	return v.ID
}

func (w *world) onlyMark(q *joining.Queue) []byte {
	w.t.Helper()
	marks, err := joining.NextMarks(q, w.t.Context())
	if err != nil || len(marks) != 1 {
		w.t.Fatalf("%d marks, %v", len(marks), err)
	}
	return marks[0]
}

func TestAVersionWhoseRecordIsDamagedHoldsUpNoOtherInTheIndexOfColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		url := fmt.Sprintf("http://data.example/%d.csv", i)
		w.visit(url, "code\n"+strings.ReplaceAll("A%B%C%D%E%F%G%H%", "%", "x\n")+fmt.Sprint("Z", i, "\n"),
			day.Add(time.Duration(i)*time.Minute))
	}
	id, err := records.ResourceID("http://data.example/2.csv")
	if err != nil {
		t.Fatal(err)
	}
	err = w.DB().Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceArchive, records.VersionKey('p', id, 0), []byte{2, 9, 9, 9}) // in pieces, and damaged
	})
	if err != nil {
		t.Fatal(err)
	}
	w.join(w.restart())
	found, err := w.Joins(t.Context(), w.latest("http://data.example/0.csv"))
	if err != nil || len(found) != 3 {
		t.Errorf("matches: %+v, %v; want those of the three sound versions", found, err)
	}
	// The next version of the damaged one is kept.
	w.visit("http://data.example/2.csv", "code\nA\nB\n", day.Add(time.Hour))
	if r, err := w.Resource(t.Context(), "http://data.example/2.csv"); err != nil || r.Versions != 2 {
		t.Errorf("%d versions, %v", r.Versions, err)
	}
}

func TestAVersionThatCannotBeJoinedIsGivenUpAndListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.visit("http://data.example/a.csv", "code\nA\nB\nC\n", day)
	q := w.restart()
	if err := joining.JoinAlone(q, t.Context(), w.onlyMark(q), &supervise.Panic{Value: "index out of range"}); err != nil {
		t.Fatal(err)
	}
	list, total, err := w.InternalFailures(t.Context(), 0)
	if err != nil || total != 1 || !list[0].Kept || !strings.Contains(list[0].Why, "index out of range") || q.Len() != 0 {
		t.Errorf("listed: %+v, %v, %d wait", list, err, q.Len())
	}
	if marks, err := joining.NextMarks(q, t.Context()); err != nil || len(marks) != 0 {
		t.Errorf("%d marks are left, %v", len(marks), err)
	}
}

// places is a table of some places.
func places(from, to int) string {
	var b strings.Builder
	b.WriteString("place,height\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "Place %d,%d.5\n", i, i)
	}
	return b.String()
}

func TestAVersionThatIsTooMuchForOneTransactionIsTakenInApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const file, towns = "http://data.example/a.csv", "http://data.example/towns.csv"
	w.visit(file, places(0, 40), day)
	w.visit(towns, places(0, 30), day)
	w.join(w.restart())
	w.visit(file, places(10, 50), day.Add(time.Hour))
	q := w.restart()
	if err := joining.JoinApart(q, t.Context(), w.onlyMark(q)); err != nil || q.Len() != 0 {
		t.Fatalf("%d versions wait, %v", q.Len(), err)
	}
	if got, err := w.Joins(t.Context(), w.latest(towns)); err != nil || len(got) != 1 || got[0].Containment != 0.6667 ||
		got[0].Other.Version != w.latest(file) {
		t.Errorf("joins %+v, %v", got, err)
	}
}
