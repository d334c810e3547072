package archive

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/testdata/underrace"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// onDisk is an archive in a directory, which can be searched for bytes.
func onDisk(t *testing.T) (a *Archive, dir string) {
	t.Helper()
	dir = t.TempDir()
	db, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	packs, err := content.Open(filepath.Join(dir, "packs"), db, content.Options{NoSync: true, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(packs.Close(), triples.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return New(ns.Mint{Base: "http://archive.example/"}, db, triples, packs), dir
}

// traces returns what the archive has of the content of some versions: records, terms, and bytes in packs. Compressed
// records cannot be searched; the tests of Purge of the packages below search files.
func traces(t *testing.T, a *Archive, dir string, versions []catalog.Version, texts ...string) (found []string) {
	t.Helper()
	for _, v := range versions {
		resource, n, _ := ns.SplitVersionID(v.ID)
		for _, table := range []byte("pqxkj") {
			err := a.db.View(func(tx *kv.Txn) error {
				return tx.Scan(kv.SpaceArchive, records.VersionKey(table, resource, n), nil, func(k, _ []byte) (bool, error) {
					found = append(found, fmt.Sprintf("record %q", k))
					return true, nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	snap := a.triples.Snapshot()
	defer snap.Release()
	for _, text := range texts {
		if _, known, err := snap.Lookup(term.String(text)); known || err != nil {
			found = append(found, fmt.Sprintf("term %q, %v", text, err))
		}
	}
	_, err := content.Salvage(t.Context(), disk.OS{}, filepath.Join(dir, "packs"), func(f content.SalvagedFile) error {
		for _, v := range versions {
			if f.SHA256 == v.Digests.SHA256 && f.Missing == 0 {
				found = append(found, "bytes of "+v.ID)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// secretTable is a table whose first column and first value are nowhere else.
func secretTable(seed uint64) (table, column, value string) {
	r := rand.New(rand.NewPCG(seed, 5))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]
		}
		return string(b)
	}
	column, value = word(24), "zz"+word(24) // the largest value is in the profile
	var b strings.Builder
	fmt.Fprintf(&b, "%s,height\n%s,0\n", column, value)
	for i := range 60 {
		fmt.Fprintf(&b, "Place %d,%d.5\n", i, i)
	}
	return b.String(), column, value
}

func TestNothingHasTheContentOfAWithdrawnVersion(t *testing.T) {
	t.Parallel()
	a, dir := onDisk(t)
	const others = "http://data.example/places.csv"
	register(t, a, listed, catalog.Seed{URL: others})
	visit(t, a, others, places(0, 60), day)
	visit(t, a, file, places(5, 30), day)
	secret, column, value := secretTable(1)
	visit(t, a, file, secret, day.Add(time.Hour))
	join(t, a)
	gone := latest(t, a, file)
	visit(t, a, file, secret+"one more,1\n", day.Add(2*time.Hour))
	next := latest(t, a, file)
	all := []catalog.Version{versionOf(t, a, gone), versionOf(t, a, next)}
	if found := traces(t, a, dir, all, column, value); len(found) < 8 {
		t.Fatalf("the test sees only %q", found)
	}
	w := catalog.Withdrawal{At: day.Add(3 * time.Hour), Reason: "It names people.", Basis: "GDPR, Article 17", By: "an operator",
		Status: 451}
	for _, id := range []string{gone, next} {
		done, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{id}}, w)
		if err != nil || len(done) != 1 {
			t.Fatalf("%d versions, %v", len(done), err)
		}
	}
	if again, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{gone}}, w); err != nil || len(again) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
	if n, err := a.PurgeWithdrawn(t.Context(), nil, nil); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if found := traces(t, a, dir, all, column, value); len(found) > 0 {
		t.Errorf("there are %q", found)
	}
	if n, err := a.PurgeWithdrawn(t.Context(), nil, nil); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}

	var withdrawn *catalog.WithdrawnError
	if _, err := a.Open(t.Context(), gone); !errors.As(err, &withdrawn) || withdrawn.Reason != w.Reason ||
		!errors.Is(err, catalog.ErrWithdrawnByLaw) {
		t.Errorf("reading it: %v", err)
	}
	v, err := a.Version(t.Context(), gone)
	if err != nil || v.Withdrawn == nil || *v.Withdrawn != w || v.Size == 0 {
		t.Errorf("its record: %+v, %v", v, err)
	}
	if got := latest(t, a, file); got != ns.VersionID(resourceOf(v), 0) {
		t.Errorf("the latest version is %s", got)
	}
	want, _ := WantVersion(gone)
	found, err := a.Find(t.Context(), []Wanted{want, WantLatest(resourceOf(v))})
	if err != nil || found[0].ID != "" || found[1].N != 0 {
		t.Errorf("for a zip: %+v, %v", found, err)
	}
	if hits, err := a.Search(t.Context(), catalog.Search{Text: column}); err != nil || hits.Total != 0 {
		t.Errorf("the search finds %d, %+v, %v", hits.Total, hits, err)
	}
	if got, err := a.Joins(t.Context(), latest(t, a, others)); err != nil || len(got) != 0 {
		t.Errorf("joins: %+v, %v", got, err)
	}
	events, err := a.Events(t.Context(), catalog.EventQuery{URL: file, Kinds: "withdrawn"})
	if err != nil || len(events.List) != 2 || events.List[0].Why != w.Reason {
		t.Errorf("events: %+v, %v", events, err)
	}
	described := map[term.Quad]bool{}
	err = a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			described[q] = true
		}
		return nil
	})
	if stored := triplesOf(t, a); err != nil || !maps.Equal(stored, described) {
		t.Errorf("%d statements are stored, %d described; %v", len(stored), len(described), err)
	}
	if err := a.Refused(v.Digests.SHA256); !errors.Is(err, catalog.ErrWithdrawn) {
		t.Errorf("the same bytes may be kept again: %v", err)
	}
	visit(t, a, file, places(7, 50), day.Add(5*time.Hour)) // the archive goes on
	join(t, a)
	if got, err := a.Joins(t.Context(), latest(t, a, file)); err != nil || len(got) != 1 {
		t.Errorf("joins of the next version: %+v, %v", got, err)
	}
}

func versionOf(t *testing.T, a *Archive, id string) catalog.Version {
	t.Helper()
	v, err := a.Version(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBytesThatOtherVersionsHaveAreWithdrawnTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const copied = "http://other.example/copy.csv"
	register(t, a, listed, catalog.Seed{URL: copied})
	visit(t, a, file, places(0, 9), day)
	visit(t, a, copied, places(0, 9), day)
	w := catalog.Withdrawal{At: day, Reason: "It names people.", Status: 410}
	var shared *SharedError
	if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{latest(t, a, file)}}, w); !errors.As(err, &shared) ||
		len(shared.Others) != 1 {
		t.Fatalf("%v", err)
	}
	latest(t, a, file) // is as it was
	done, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{latest(t, a, file)}, Copies: true}, w)
	if err != nil || len(done) != 2 {
		t.Fatalf("%d versions, %v", len(done), err)
	}
	if _, err := a.Latest(t.Context(), copied); !errors.Is(err, ErrNotFound) || !errors.Is(err, catalog.ErrWithdrawn) ||
		errors.Is(err, catalog.ErrWithdrawnByLaw) {
		t.Errorf("the copy: %v", err)
	}
	if n, err := a.PurgeWithdrawn(t.Context(), nil, nil); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestBytesThatAreWithdrawnDuringAVisitAreNotKept(t *testing.T) {
	t.Parallel()
	a, dir := onDisk(t)
	register(t, a, listed)
	secret, column, value := secretTable(7)
	visit(t, a, file, secret, day)
	visit(t, a, file, places(1, 20), day.Add(time.Hour))
	w := catalog.Withdrawal{At: day, Reason: "It names people.", Status: 410}
	gone, _ := strings.CutSuffix(latest(t, a, file), "_1")
	if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{gone + "_0"}}, w); err != nil {
		t.Fatal(err)
	}
	act := visit(t, a, file, secret, day.Add(2*time.Hour)) // its bytes are put before the commit, as if it had begun before
	if act.Outcome != catalog.NoVersion || act.ErrorClass != catalog.ErrBytesWithdrawn || act.Version != "" {
		t.Errorf("%+v", act)
	}
	if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	visit(t, a, file, secret, day.Add(3*time.Hour))
	if list, err := a.PendingPurge(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("bytes that came after the purge: %d pending, %v", len(list), err)
	}
	if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	v := versionOf(t, a, gone+"_0")
	if found := traces(t, a, dir, []catalog.Version{v}, column, value); len(found) > 0 {
		t.Errorf("there are %q", found)
	}
	if all, err := a.Versions(t.Context(), file); err != nil || len(all) != 2 {
		t.Errorf("%d versions, %v", len(all), err)
	}
}

func TestBytesThatAVisitWithoutAVersionMayHaveStoredArePurgedAgain(t *testing.T) {
	t.Parallel()
	a, dir := onDisk(t)
	register(t, a, listed)
	secret, column, value := secretTable(11)
	visit(t, a, file, secret, day)
	v := versionOf(t, a, latest(t, a, file))
	w := catalog.Withdrawal{At: day, Reason: "It names people.", Status: 410}
	if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{v.ID}}, w); err != nil {
		t.Fatal(err)
	}
	if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	// A visit that began before found the bytes missing, and stored them.
	if _, err := a.content.Put(t.Context(), strings.NewReader(secret), content.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	act := catalog.Activity{URL: file, Start: day.Add(time.Hour), End: day.Add(time.Hour), Outcome: catalog.Unchanged}
	if _, err := a.Commit(t.Context(), Visit{Activity: act, Examined: &v.Digests.SHA256}, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := a.PurgeWithdrawn(t.Context(), nil, nil); n != 1 || err != nil {
		t.Errorf("%d purged again, %v", n, err)
	}
	if found := traces(t, a, dir, []catalog.Version{v}, column, value); len(found) > 0 {
		t.Errorf("there are %q", found)
	}
	act.Start, act.End = day.Add(2*time.Hour), day.Add(2*time.Hour)
	if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil { // as visits after the withdrawal
		t.Fatal(err)
	}
	if list, err := a.PendingPurge(t.Context()); len(list) > 0 || err != nil {
		t.Errorf("%d pending, %v", len(list), err)
	}
}

func TestAWithdrawalForSpaceLetsTheBytesReturn(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	visit(t, a, file, places(0, 20), day)
	visit(t, a, file, places(1, 20), day.Add(time.Hour))
	first, _ := strings.CutSuffix(latest(t, a, file), "_1")
	first += "_0"
	w := catalog.Withdrawal{At: day, Reason: "It is old.", By: catalog.ByRetention, Status: 410}
	space := Withdrawing{Targets: []string{first}, Returns: true}
	if done, err := a.Withdraw(t.Context(), space, w); err != nil || len(done) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	if act := visit(t, a, file, places(0, 20), day.Add(2*time.Hour)); act.Outcome != catalog.NoVersion {
		t.Errorf("before the bytes are removed: %+v", act)
	}
	if n, err := a.PurgeWithdrawn(t.Context(), nil, nil); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if act := visit(t, a, file, places(0, 20), day.Add(3*time.Hour)); act.Outcome != catalog.Archived {
		t.Errorf("afterwards: %+v", act)
	}
	w.By, w.Reason = "somebody", "It names people."
	done, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{first}, Copies: true}, w)
	if err != nil || len(done) != 2 {
		t.Fatalf("for good: %v, %v", done, err)
	}
	if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if act := visit(t, a, file, places(0, 20), day.Add(4*time.Hour)); act.Outcome != catalog.NoVersion && act.Outcome != catalog.Unchanged {
		t.Errorf("what was withdrawn for good: %+v", act)
	}
}

func TestVersionsThatShareBytesWithWithdrawnOnesSurvive(t *testing.T) {
	t.Parallel()
	underrace.Skip(t)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		a, _ := onDisk(t)
		var urls []string
		want := map[string]string{} // the text of each version
		for i := range 3 {
			urls = append(urls, fmt.Sprintf("http://data.example/%d.csv", i))
			register(t, a, catalog.Seed{URL: urls[i]})
		}
		text := places(0, 3000)
		for i := range 12 {
			at := r.IntN(len(text))
			text = text[:at] + fmt.Sprintf("\nPlace %d,%d\n", r.IntN(1000), i) + text[at:]
			act := visit(t, a, urls[r.IntN(3)], text, day.Add(time.Duration(i)*time.Hour))
			want[act.Version] = text
		}
		w := catalog.Withdrawal{At: day, Reason: "It names people.", Status: 410}
		for id := range want {
			if r.IntN(2) == 0 {
				continue
			}
			if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{id}}, w); err != nil {
				t.Fatal(err)
			}
			want[id] = ""
			if r.IntN(3) > 0 {
				continue
			}
			if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.PurgeWithdrawn(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		for id, text := range want {
			f, err := a.Open(t.Context(), id)
			if text == "" {
				if !errors.Is(err, catalog.ErrWithdrawn) {
					t.Errorf("seed %d: %s can be read, %v", seed, id, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, id, err)
			}
			got, err := io.ReadAll(f)
			if err != nil || string(got) != text {
				t.Errorf("seed %d: %s has %d bytes, want %d; %v", seed, id, len(got), len(text), err)
			}
			f.Close()
		}
	}
}
