package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/harvest"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// delistings records calls of Delist.
type delistings struct {
	list []string
	fail error
}

func (d *delistings) Delist(_ context.Context, list []archive.Delisting) error {
	for _, x := range list {
		d.list = append(d.list, fmt.Sprint(x.Dataset, " ", x.Resources))
	}
	return d.fail
}

type world struct {
	t        tester
	portal   string // IRI of the portal, and name of its source
	db       *kv.DB
	triples  *triplestore.Store
	ledger   *Ledger
	delisted *delistings
	runs     int
}

type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Cleanup(func())
}

func newWorld(t tester) *world {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, portal: "http://p.example/", db: db, triples: triples, delisted: &delistings{}}
	t.Cleanup(func() { triples.Close(); db.Close() })
	if w.ledger, err = New(ns.Mint{Base: "http://a.example/"}, db, triples, w.delisted); err != nil {
		t.Fatal(err)
	}
	return w
}

func about(dataset string, statements ...string) harvest.Entry {
	e := harvest.Entry{Dataset: "http://d.example/" + dataset, Resources: []string{"r-" + dataset}}
	for _, s := range append([]string{dataset + " a d"}, statements...) {
		f := strings.Fields(s)
		e.Quads = append(e.Quads,
			term.Quad{S: term.IRI("http://d.example/" + f[0]), P: term.IRI("http://v.example/" + f[1]), O: term.String(f[2])})
	}
	return e
}

func gone(dataset string) harvest.Entry {
	return harvest.Entry{Dataset: "http://d.example/" + dataset, Gone: true}
}

// run runs one harvest from its beginning to its commit.
func (w *world) run(whole bool, entries ...harvest.Entry) harvest.Changes {
	w.t.Helper()
	w.begin()
	w.stage(entries...)
	changes := w.commit(whole)
	w.end()
	return changes
}

func (w *world) now() time.Time { return noon.Add(time.Duration(w.runs) * time.Hour) }

func (w *world) begin() {
	w.t.Helper()
	w.runs++
	if err := w.ledger.Recover(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.ledger.Begin(context.Background(), w.portal, false, w.now()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stage(entries ...harvest.Entry) {
	w.t.Helper()
	err := w.db.Update(context.Background(), func(txn *kv.Txn) error {
		if err := w.ledger.Stage(txn, w.portal, w.portal, entries); err != nil {
			return err
		}
		return w.ledger.Mark(txn, w.portal, "somewhere")
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) commit(whole bool) harvest.Changes {
	w.t.Helper()
	changes, err := w.ledger.Commit(context.Background(), fmt.Sprint("harvest-", w.runs), w.portal,
		harvest.Ending{Whole: whole, Sure: true}, w.now())
	if err != nil {
		w.t.Fatal(err)
	}
	return changes
}

func (w *world) end() {
	w.t.Helper()
	if err := w.db.Update(context.Background(), func(txn *kv.Txn) error { return w.ledger.End(txn, w.portal, "") }); err != nil {
		w.t.Fatal(err)
	}
}

// graph returns the statements in a graph below the portal's ("" or "#withdrawn"), as "dataset property value".
func (w *world) graph(suffix string) []string {
	return w.statements(term.IRI("http://a.example/graph/"+w.portal+suffix), "http://v.example/")
}

// marks returns the marks of datasets in the default graph, with the local names of their properties.
func (w *world) marks() []string { return w.statements("", "") }

func (w *world) statements(graph term.Key, vocabulary string) []string {
	w.t.Helper()
	var all []string
	err := w.triples.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		if q.G != graph || !strings.HasPrefix(q.S.Value(), "http://d.example/") || !strings.HasPrefix(q.P.Value(), vocabulary) {
			return nil
		}
		p := q.P.Value()
		all = append(all, strings.TrimPrefix(q.S.Value(), "http://d.example/")+" "+p[strings.LastIndexAny(p, "/#")+1:]+" "+
			strings.TrimPrefix(q.O.Value(), "http://a.example/activity/"))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func (w *world) wants(what string, got []string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Fatalf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestAWholeHarvestReplacesThePortalsGraph(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if c := w.run(true, about("1", "1 title One"), about("2", "2 title Two")); c != (harvest.Changes{Inserted: 2}) {
		t.Fatalf("first: %+v", c)
	}
	w.wants("first", w.graph(""), "1 a d", "1 title One", "2 a d", "2 title Two")
	if c := w.run(true, about("1", "1 title Uno"), about("2", "2 title Two"),
		about("3")); c != (harvest.Changes{Inserted: 1, Updated: 1, Unchanged: 1}) {
		t.Fatalf("second: %+v", c)
	}
	w.wants("second", w.graph(""), "1 a d", "1 title Uno", "2 a d", "2 title Two", "3 a d")
	w.wants("marks", w.marks())
}

func TestWhatIsNoLongerListedIsWithdrawnAndKeepsItsHistoryWhenItComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1", "1 title One"), about("2"))
	if c := w.run(true, about("2")); c != (harvest.Changes{Withdrawn: 1, Unchanged: 1}) {
		t.Fatalf("withdrawn: %+v", c)
	}
	w.wants("graph", w.graph(""), "2 a d")
	w.wants("withdrawn graph", w.graph("#withdrawn"), "1 a d", "1 title One")
	w.wants("resources", w.delisted.list, "http://d.example/1 []")
	event := "harvest-2#withdrawn-" + w.eventID("1")
	w.wants("marks", w.marks(), "1 invalidatedAtTime 2026-11-21T14:00:00.000Z", "1 wasInvalidatedBy harvest-2",
		"1 status http://purl.org/adms/status/Withdrawn", "1 qualifiedInvalidation "+event)
	if c := w.run(true, about("2")); c != (harvest.Changes{Unchanged: 1}) {
		t.Fatalf("still withdrawn: %+v", c)
	}
	if c := w.run(true, about("1", "1 title Again"), about("2")); c != (harvest.Changes{Returned: 1, Unchanged: 1}) {
		t.Fatalf("back: %+v", c)
	}
	w.wants("graph", w.graph(""), "1 a d", "1 title Again", "2 a d")
	w.wants("withdrawn graph", w.graph("#withdrawn"))
	w.wants("marks", w.marks(), "1 qualifiedInvalidation "+event, "1 qualifiedGeneration harvest-4#returned-"+w.eventID("1"))
}

func (w *world) eventID(dataset string) string {
	q := w.ledger.event(portal{IRI: w.portal}, "http://d.example/"+dataset, "x", "p", "c")[0]
	_, id, _ := strings.Cut(q.O.Value(), "#x-")
	return id
}

func TestAnIncrementalHarvestReplacesDatasetByDataset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1", "1 title One"), about("2"), about("3"))
	if c := w.run(false, about("1", "1 title Uno"), gone("3"), gone("unknown")); c != (harvest.Changes{Updated: 1, Withdrawn: 1}) {
		t.Fatalf("%+v", c)
	}
	w.wants("graph", w.graph(""), "1 a d", "1 title Uno", "2 a d")
}

func TestWhatASourceFailsToGiveStaysAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := func(dataset string) harvest.Entry { return harvest.Entry{Dataset: dataset, Kept: true} }
	w.run(true, about("1", "1 title One"), about("2"), about("3"))
	if c := w.run(true, about("3"), kept("http://d.example/1"),
		kept("http://d.example/unknown")); c != (harvest.Changes{Unchanged: 1, Withdrawn: 1}) {
		t.Fatalf("%+v", c)
	}
	w.wants("1 is kept, 2 is withdrawn", w.graph(""), "1 a d", "1 title One", "3 a d")
	if c := w.run(true, about("3"), kept("")); c != (harvest.Changes{Unchanged: 1, Blind: true}) {
		t.Fatalf("%+v", c)
	}
	w.wants("any may be what was not given", w.graph(""), "1 a d", "1 title One", "3 a d")
	w.run(true, about("1"))
	w.wants("the next harvest is whole", w.graph(""), "1 a d")
	w.run(true, about("2"), kept("http://d.example/1"))
	w.run(true, about("2"), kept("http://d.example/3"))
	w.wants("what is withdrawn stays so too", w.graph(""), "2 a d")
}

func TestABrokenEntryWithoutANameIsNoneOfThoseThatCameBesideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fault := func(name string) harvest.Entry { return harvest.Entry{Kept: true, Fault: name} }
	w.run(true, about("1"), about("2"), about("3"), about("4"))
	w.run(true, about("1"), about("2"), about("3"), fault("x")) // 4 may be x
	w.wants("what went with the fault", w.graph(""), "1 a d", "2 a d", "3 a d", "4 a d")
	if c := w.run(true, about("1"), about("2"), fault("x")); c != (harvest.Changes{Unchanged: 2, Withdrawn: 1}) {
		t.Fatalf("3 came beside x and is not x: %+v", c)
	}
	w.run(true, about("1"), fault("x"), fault("y")) // 2 may be y
	w.wants("what went with another fault", w.graph(""), "1 a d", "2 a d", "4 a d")
	w.run(true, about("1"), fault("")) // may be any dataset
	w.wants("a fault that nobody can tell from others", w.graph(""), "1 a d", "2 a d", "4 a d")
	w.run(true, about("1"))
	w.wants("without a fault all are whole", w.graph(""), "1 a d")
}

func TestWhatFiveHarvestsDidNotBringIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fault := harvest.Entry{Kept: true} // "the portal says that it lists 3 entries but returned 2"
	w.run(true, about("1"), about("2"), about("3"))
	for i := range patience - 1 {
		w.run(true, about("1"), fault)
		w.run(false, about("1")) // does not count
		if got := w.graph(""); len(got) != 3 {
			t.Fatalf("after %d harvests: %q", i+1, got)
		}
		if i == 1 {
			w.run(false, about("3")) // met again
		}
	}
	w.run(true, about("1"), fault)
	w.wants("after five", w.graph(""), "1 a d", "3 a d")
	w.run(true, about("1"), fault)
	w.wants("after another one", w.graph(""), "1 a d", "3 a d")
	w.run(true, about("1"), fault)
	w.wants("five after it was met again", w.graph(""), "1 a d")
}

func TestAPortalIsKeptByOneKindOfSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := "ckan http://p.example"
	stage := func(name string) error {
		if _, err := w.ledger.Begin(t.Context(), name, false, w.now()); err != nil {
			return err
		}
		return w.db.Update(t.Context(), func(txn *kv.Txn) error {
			return w.ledger.Stage(txn, name, w.portal, []harvest.Entry{about("1")})
		})
	}
	if err := errors.Join(w.ledger.Open(name, w.portal, true, false), stage(name)); err != nil {
		t.Fatal(err)
	}
	w.commit(true)
	for name, want := range map[string]bool{name: true, "ckan http://p.example since=2026-01-01": true,
		"dcat http://p.example/catalog.ttl": false} {
		err := w.ledger.Open(name, w.portal, false, false)
		if (err == nil) != want || !want &&
			(!errors.Is(err, harvest.ErrTaken) || !strings.Contains(err.Error(), "by the harvest of ckan http://p.example:")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.ledger.Open("dcat http://p.example/catalog.ttl", w.portal, true, true); err != nil {
		t.Error(err)
	}
}

func TestAStatementGoesWithTheLastThatSaysIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1", "org name X"), about("2", "org name X"), about("3", "2 note y"))
	w.run(true, about("2", "org name X"), about("3", "2 note y"))
	w.wants("one of two is withdrawn", w.graph(""), "2 a d", "3 a d", "org name X", "2 note y")
	w.wants("it says so among the withdrawn", w.graph("#withdrawn"), "1 a d", "org name X")
	w.run(true, about("2", "2 note y"), about("3"))
	w.wants("the last of two is changed, another says the same of a dataset", w.graph(""), "2 a d", "3 a d", "2 note y")
	w.run(true, about("2"), about("3"))
	w.wants("nobody says it", w.graph(""), "2 a d", "3 a d")
}

func TestNothingIsSeenBeforeTheCommitAndACutOffHarvestGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1"), about("2"))
	w.begin()
	w.stage(about("1", "1 title Uno"))
	w.wants("while it runs", w.graph(""), "1 a d", "2 a d")
	mark, err := w.ledger.Begin(t.Context(), w.portal, false, w.now().Add(time.Hour)) // the process was killed; the harvest starts again
	if err != nil || mark != "somewhere" {
		t.Fatalf("mark %q, %v", mark, err)
	}
	w.stage(about("2", "2 title Due"))
	if c := w.commit(true); c != (harvest.Changes{Updated: 2}) {
		t.Fatalf("%+v", c)
	}
	// The commit is complete, but the end is not recorded. The harvest starts again, finds nothing new and ends.
	w.stage()
	if c := w.commit(true); c != (harvest.Changes{}) {
		t.Fatalf("again: %+v", c)
	}
	w.wants("after it", w.graph(""), "1 a d", "1 title Uno", "2 a d", "2 title Due")
}

func TestWhatAGivenUpHarvestStagedIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1"))
	w.begin()
	w.stage(about("9"), about("1", "1 title Uno"))
	if _, err := w.ledger.Begin(t.Context(), w.portal, true, w.now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.stage(about("1"))
	if c := w.commit(true); c != (harvest.Changes{Unchanged: 1}) {
		t.Fatalf("%+v", c)
	}
	w.wants("graph", w.graph(""), "1 a d")
	w.end()
	w.holdsNothingElse(1)
}

// holdsNothingElse checks that the ledger keeps the content of that many entries and nothing staged.
func (w *world) holdsNothingElse(entries int) {
	w.t.Helper()
	count := map[byte]int{}
	err := w.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHarvest, nil, nil, func(k, _ []byte) (bool, error) {
			if p := idOf(w.portal); bytes.HasPrefix(k[1:], p[:]) {
				count[k[0]]++
			}
			return true, nil
		})
	})
	if err != nil || count[tableContent] != entries || count[tableCurrent] != entries || count[tableStaged] != 0 {
		w.t.Fatalf("%d contents, %d current, %d staged, want %d, %v", count[tableContent], count[tableCurrent], count[tableStaged], entries,
			err)
	}
}

func TestFurtherSubjectsOfOneHarvestAddUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	further := func(value string) harvest.Entry {
		s := term.IRI("http://d.example/x")
		return harvest.Entry{Subject: s, Quads: []term.Quad{{S: s, P: term.IRI("http://v.example/p"), O: term.String(value)}}}
	}
	w.begin()
	w.stage(further("1"))
	w.stage(further("2"))
	w.commit(true)
	w.end()
	w.wants("both", w.graph(""), "x p 1", "x p 2")
	w.run(true, further("2"))
	w.wants("one", w.graph(""), "x p 2")
}

func TestAPortalOfAnySizeComesWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ bulk, atOnce, harvests int }{{10, 1000, 1}, {10, 20, 1}, {1000, 20, 1}, {10, 20, 2}} {
		for checks := int64(1); ; checks += checks/2 + 1 {
			w.portal = fmt.Sprintf("http://p.example/%d/%d/%d/%d/", c.bulk, c.atOnce, c.harvests, checks)
			w.ledger.manyQuads, w.ledger.maxQuads = c.bulk, c.atOnce
			var entries []harvest.Entry
			var want []string
			for i := range 50 {
				d := fmt.Sprintf("%02d", i)
				entries = append(entries, about(d, d+" title "+d))
				want = append(want, d+" a d", d+" title "+d)
			}
			if c.harvests == 2 { // the last harvest replaces existing entries
				w.run(true, about("00"), about("gone"), about("07", "07 title old"))
			}
			w.begin()
			w.stage(entries...)
			ctx := &dying{Context: t.Context()}
			ctx.left.Store(checks)
			_, err := w.ledger.Commit(ctx, fmt.Sprint("harvest-", w.runs), w.portal, harvest.Ending{Whole: true, Sure: true}, w.now())
			if recoverErr := w.ledger.Recover(t.Context()); recoverErr != nil {
				t.Fatal(recoverErr)
			}
			w.commit(true)
			w.end()
			w.wants(fmt.Sprintf("%+v, cut off after %d", c, checks), w.graph(""), want...)
			if err == nil {
				break
			}
		}
	}
}

func TestACommitThatIsCutOffIsFinishedByTheNextHarvest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(true, about("1"), about("2"))
	w.begin()
	w.stage(about("1", "1 title Uno"))
	w.delisted.fail = errors.New("killed")
	if _, err := w.ledger.Commit(t.Context(), "harvest-2", w.portal, harvest.Ending{Whole: true, Sure: true}, w.now()); err == nil {
		t.Fatal("settling went on although delisting failed")
	}
	w.wants("the store has it all", w.graph(""), "1 a d", "1 title Uno")
	w.delisted.fail = nil
	if c := w.run(true, about("1", "1 title Uno"), about("2")); c != (harvest.Changes{Unchanged: 1, Returned: 1}) {
		t.Fatalf("%+v", c)
	}
	w.holdsNothingElse(2)
}

// TestTheGraphIsWhatTheEntriesSay compares the ledger with a simple model over random histories.
func TestTheGraphIsWhatTheEntriesSay(t *testing.T) {
	t.Parallel()
	w, portals := newWorld(t), 0
	rapid.Check(t, func(t *rapid.T) {
		portals++
		w.t, w.portal = t, fmt.Sprintf("http://p.example/%d/", portals)
		listed, withdrawn := map[string][]string{}, map[string][]string{}
		for range rapid.IntRange(1, 6).Draw(t, "harvests") {
			whole := rapid.Bool().Draw(t, "whole")
			met := map[string]bool{}
			var entries []harvest.Entry
			for _, d := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4"}), rapid.ID).Draw(t, "datasets") {
				if rapid.IntRange(0, 5).Draw(t, "gone") == 0 {
					entries = append(entries, gone(d))
					if s, ok := listed[d]; ok {
						withdrawn[d] = s
						delete(listed, d)
					}
					continue
				}
				said := rapid.SliceOfN(rapid.SampledFrom([]string{"org name X", "org name Y", "1 note a", "2 note b", "4 title z"}), 0,
					3).Draw(t, "said")
				e := about(d, said...)
				entries = append(entries, e)
				met[d] = true
				listed[d] = append(said, d+" a d")
				delete(withdrawn, d)
			}
			if whole {
				for d, s := range listed {
					if !met[d] {
						withdrawn[d] = s
						delete(listed, d)
					}
				}
			}
			w.ledger.manyQuads = rapid.SampledFrom([]int{0, 4, 1e6}).Draw(t, "bulk")
			w.ledger.maxQuads = rapid.SampledFrom([]int{1, 4, 1e6}).Draw(t, "at once")
			w.begin()
			w.stage(entries...)
			if checks := rapid.IntRange(0, 40).Draw(t, "cut off after"); checks > 0 {
				ctx := &dying{Context: context.Background()}
				ctx.left.Store(int64(checks))
				// may be interrupted
				w.ledger.Commit(ctx, fmt.Sprint("harvest-", w.runs), w.portal, harvest.Ending{Whole: whole, Sure: true}, w.now())
				if err := w.ledger.Recover(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			w.commit(whole)
			w.end()
			w.wants("graph", w.graph(""), union(listed)...)
			w.wants("withdrawn", w.graph("#withdrawn"), union(withdrawn)...)
		}
		w.holdsNothingElse(len(listed) + len(withdrawn))
	})
}

// dying is a context that ends after a number of calls of Err, for example between two parts of a commit.
type dying struct {
	context.Context
	left atomic.Int64
}

func (d *dying) Err() error {
	if d.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func union(sets map[string][]string) []string {
	var all []string
	for _, s := range sets {
		all = append(all, s...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
