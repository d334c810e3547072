package joins

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/packed"
	"odarchive/triplestore/kv"
)

func newDB(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// kept are the sketches of the columns that were added to an index, by its database, version and number.
var kept sync.Map

// samplesOf numbers the columns of replacements, and returns the sketches of all columns so far.
func samplesOf(db *kv.DB, all []Replacement) Samples {
	mine, _ := kept.LoadOrStore(db, &sync.Map{})
	for _, r := range all {
		for i := range r.Columns {
			r.Columns[i].At = i
			mine.(*sync.Map).Store(fmt.Sprint(r.New, " ", i), r.Columns[i].Sketch)
		}
	}
	return func(version string, at int) (csvprofile.Sketch, error) {
		s, _ := mine.(*sync.Map).Load(fmt.Sprint(version, " ", at))
		sketch, _ := s.(csvprofile.Sketch)
		return sketch, nil
	}
}

func put(t testing.TB, db *kv.DB, old, id string, columns ...Column) []Change {
	t.Helper()
	return putAll(t, db, Replacement{old, id, columns})
}

func putAll(t testing.TB, db *kv.DB, all ...Replacement) []Change {
	t.Helper()
	var u *Update
	samples := samplesOf(db, all)
	err := db.View(func(txn *kv.Txn) (err error) {
		u, err = NewPass().Prepare(txn, samples, all)
		return err
	})
	if err == nil {
		err = db.Update(context.Background(), u.Write)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u.Changes
}

func of(t testing.TB, db *kv.DB, version string) (list []Match) {
	t.Helper()
	err := db.View(func(txn *kv.Txn) (err error) {
		list, err = Of(txn, version)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// columnsOf profiles a table and returns its eligible columns.
func columnsOf(t testing.TB, version string, columns ...[]string) (all []Column) {
	t.Helper()
	rows := 0
	for _, c := range columns {
		rows = max(rows, len(c))
	}
	var b strings.Builder
	for i := range columns {
		fmt.Fprintf(&b, "column%d,", i)
	}
	b.WriteString("last\n")
	for r := range rows {
		for _, c := range columns {
			b.WriteString(c[r%len(c)] + ",")
		}
		b.WriteString("x\n")
	}
	p, err := csvprofile.Read(context.Background(), strings.NewReader(b.String()), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range p.Columns {
		if packed.Joinable(c) {
			all = append(all, Column{Place: Place{Version: version, Column: i}, Name: c.Name, Distinct: c.Distinct, Key: c.Unique,
				Sketch: c.Sketch})
		}
	}
	return all
}

func words(prefix string, from, to int) (list []string) {
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("%s %d", prefix, i))
	}
	return list
}

// TestPlantedJoinsAreFound makes a corpus of tables whose columns draw known shares from common pools of keys, among
// random columns, and measures precision and recall of "at least half of the values of one are in the other" over all
// pairs.
func TestPlantedJoinsAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	db := newDB(t)
	keys := map[Place]map[string]bool{}
	for pool := range 8 {
		size := []int{50, 300, 2000, 8000}[pool%4]
		pooled := words(fmt.Sprintf("p%d key", pool), 0, size)
		for n, plan := range []struct{ share, foreign float64 }{{1, 0}, {0.9, 0}, {0.75, 0.2}, {0.3, 0}, {0.15, 0.5}, {1, 0.7}, {0.65, 0.3},
			{0.1, 0.9}} {
			version := fmt.Sprintf("%d-%d", pool, n)
			rng.Shuffle(len(pooled), func(i, j int) { pooled[i], pooled[j] = pooled[j], pooled[i] })
			own := int(plan.share * float64(size))
			values := append(slices.Clone(pooled[:own]), words("own "+version, 0, int(float64(own)*plan.foreign/(1-plan.foreign)))...)
			var count, number, yes []string
			for i := range values {
				count, number, yes = append(count, fmt.Sprint(rng.IntN(900))), append(number, fmt.Sprint(i+1)),
					append(yes, []string{"yes", "no"}[rng.IntN(2)])
			}
			columns := columnsOf(t, version, values, count, number, yes)
			put(t, db, "", version, columns...)
			set := map[string]bool{}
			for _, v := range values {
				set[v] = true
			}
			keys[Place{Version: version}] = set
		}
	}
	right, wrong, missed := 0, 0, 0
	for a, mine := range keys {
		found := map[Place]bool{}
		for _, m := range of(t, db, a.Version) {
			found[m.Other] = true
			if m.Column != a || keys[m.Other] == nil {
				wrong++
			}
		}
		for b, theirs := range keys {
			common := 0
			for k := range mine {
				if theirs[k] {
					common++
				}
			}
			is := a != b && 2*common >= min(len(mine), len(theirs))
			switch {
			case is && found[b]:
				right++
			case is:
				missed++
			case found[b]:
				wrong++
			}
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("%d tables: %d joins found, %d wrong, %d missed: precision %.3f, recall %.3f", len(keys), right, wrong, missed, precision,
		recall)
	if precision < 0.95 || recall < 0.95 {
		t.Errorf("precision %.3f, recall %.3f", precision, recall)
	}
}

func TestASmallColumnIsFoundInAReferenceTable(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	reference := words("municipality", 0, 2500)
	put(t, db, "", "reference", columnsOf(t, "reference", reference)...)
	put(t, db, "", "facts", columnsOf(t, "facts", append(words("municipality", 700, 730), words("elsewhere", 0, 10)...))...)
	got := of(t, db, "facts")
	if len(got) != 1 || got[0].Other.Version != "reference" || got[0].Containment < 0.6 || got[0].Reverse > 0.1 {
		t.Errorf("the facts join %+v", got)
	}
	if back := of(t, db, "reference"); len(back) != 1 || back[0] != got[0].reversed() {
		t.Errorf("the reference table joins %+v", back)
	}
}

func TestASupersededVersionDropsOut(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	put(t, db, "", "a0", columnsOf(t, "a0", words("x", 0, 50))...)
	put(t, db, "", "b0", columnsOf(t, "b0", words("x", 10, 60))...)
	changes := put(t, db, "a0", "a1", columnsOf(t, "a1", words("x", 5, 55), words("y", 0, 20))...)
	if len(changes) != 3 { // a0 has none left, a1 has one, b0 has another
		t.Errorf("changes %+v", changes)
	}
	if got := of(t, db, "a0"); len(got) != 0 {
		t.Errorf("the old version joins %+v", got)
	}
	if got := of(t, db, "b0"); len(got) != 1 || got[0].Other.Version != "a1" || got[0].Containment != 0.9 {
		t.Errorf("the other table joins %+v", got)
	}
	put(t, db, "a1", "a2")
	put(t, db, "b0", "b1")
	left := map[byte]int{}
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceJoins, nil, nil, func(k, _ []byte) (bool, error) { left[k[0]]++; return true, nil })
	})
	if err != nil || !maps.Equal(left, map[byte]int{tableNext: 1}) {
		t.Errorf("when no table is left, the index holds %v, %v", left, err)
	}
}

func TestTablesOfOneFileJoinEachOther(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	first, second := columnsOf(t, "a", words("x", 0, 50)), columnsOf(t, "a", words("x", 0, 50))
	second[0].Member = "inside.csv"
	put(t, db, "", "a", append(first, second...)...)
	got := of(t, db, "a")
	if len(got) != 2 || got[0].Other.Member == got[1].Other.Member {
		t.Errorf("%+v", got)
	}
	twice := columnsOf(t, "b", words("z", 0, 50), words("z", 0, 50))
	put(t, db, "", "b", twice...)
	if got := of(t, db, "b"); len(got) != 0 {
		t.Errorf("a table joins with itself: %+v", got)
	}
}

func TestWorkAndSpaceAreBounded(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for i := range 200 {
		version := fmt.Sprint("v", i)
		put(t, db, "", version, columnsOf(t, version, words("same", 0, 30))...)
	}
	for i := range 200 {
		if n := len(of(t, db, fmt.Sprint("v", i))); n > perVersion {
			t.Errorf("version %d has %d matches", i, n)
		}
	}
	var wide []Column
	for i := range 300 {
		wide = append(wide, columnsOf(t, "wide", words(fmt.Sprint("w", i), 0, 400))[0])
	}
	put(t, db, "", "wide", wide...)
	filed := filedUnder(t, db)
	for _, sets := range filed {
		if len(sets) > maxPosting {
			t.Errorf("%d sets under one hash", len(sets))
		}
	}
	if len(filed) > maxFiled+30 {
		t.Errorf("filed under %d hashes", len(filed))
	}
}

func TestOnlyTellingColumnsAreEligible(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("row,code,place,flag,height,count,late row,day\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%d,Place %d,%v,%d.5,%d,%d,2026-01-%02d\n", i+1, 10000+i*37, i, i%2 == 0, i, i*i%23, 1000+i, i%28+1)
	}
	p, err := csvprofile.Read(t.Context(), strings.NewReader(b.String()), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, true, false, false, false, true, false} {
		if got := packed.Joinable(p.Columns[i]); got != want {
			t.Errorf("%s: %v, want %v (%+v)", p.Columns[i].Name, got, want, p.Columns[i])
		}
	}
}

func TestCategoriesDoNotJoinEachOtherButKeysOfFew(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	few := []string{"planned", "open", "closed", "lost"}
	many := append(slices.Clone(few), append(few, few...)...)
	put(t, db, "", "a", columnsOf(t, "a", many)...)
	put(t, db, "", "b", columnsOf(t, "b", many)...)
	if got := of(t, db, "b"); len(got) != 0 {
		t.Errorf("two categories join: %+v", got)
	}
	put(t, db, "", "states", columnsOf(t, "states", few)...)
	if got := of(t, db, "states"); len(got) != 2 {
		t.Errorf("a table of states joins %+v", got)
	}
}

// TestManyAtOnceIsOneAfterTheOther compares the index after many replacements in few updates with one that replaced
// them one by one.
func TestManyAtOnceIsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	one, many := newDB(t), newDB(t)
	versions := map[int]int{}
	var batch []Replacement
	for range 120 {
		file := rng.IntN(35)
		r := Replacement{New: fmt.Sprintf("%d_%d", file, versions[file])}
		if n := versions[file]; n > 0 {
			r.Old = fmt.Sprintf("%d_%d", file, n-1)
		}
		versions[file]++
		if rng.IntN(9) > 0 {
			from := rng.IntN(3) * 10
			r.Columns = columnsOf(t, r.New, words("a", from, from+40), words("b", rng.IntN(30), 50),
				words("alone "+r.New, 0, 1+rng.IntN(20)), words("a", 0, 40))
		}
		put(t, one, r.Old, r.New, r.Columns...)
		if batch = append(batch, r); len(batch) > rng.IntN(60) {
			putAll(t, many, batch...)
			batch = nil
		}
	}
	putAll(t, many, batch...)
	want, got := dump(t, one), dump(t, many)
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%q: %q, want %q", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}

// filedUnder returns the sets filed under each hash, in any array.
func filedUnder(t testing.TB, db *kv.DB) map[uint32][]number {
	t.Helper()
	var pairs []pair
	err := db.View(func(txn *kv.Txn) error {
		part, low := uint32(0), uint32(0)
		return txn.Scan(kv.SpaceJoins, []byte{tablePosting}, nil, func(k, v []byte) (bool, error) {
			high, id := binary.BigEndian.Uint32(k[1:]), binary.BigEndian.Uint32(k[5:])
			array, err := tables{txn}.read(high, id)
			if err != nil {
				return false, err
			}
			pairs = append(pairs, array...)
			if high != part {
				part, low = high, part
			}
			if len(v) == 0 || !slices.IsSortedFunc(array, comparePairs) || array[len(array)-1].hash > high || low > 0 &&
				array[0].hash <= low {
				t.Errorf("array %d of partition %x is out of order, or of its bounds", id, high)
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(pairs, comparePairs)
	all := map[uint32][]number{}
	for _, p := range cancelPairs(pairs, false) {
		if p.set&removed != 0 {
			t.Errorf("set %d removed hash %x, where it never was", p.set&^removed, p.hash)
		}
		all[p.hash] = append(all[p.hash], p.set)
	}
	return all
}

// dump returns the contents of the index.
func dump(t *testing.T, db *kv.DB) map[string]string {
	all := map[string]string{}
	for h, sets := range filedUnder(t, db) {
		all[fmt.Sprintf("filed under %x", h)] = fmt.Sprint(sets)
	}
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceJoins, nil, nil, func(k, v []byte) (bool, error) {
			if k[0] != tablePosting {
				all[string(k)] = string(v)
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// BenchmarkUpdate replaces tables of four eligible columns in an index of 2,000 such tables that share values, one at a
// time and 64 at a time.
func BenchmarkUpdate(b *testing.B) {
	for _, at := range []int{1, 64} {
		b.Run(fmt.Sprint(at), func(b *testing.B) { benchmarkUpdate(b, at) })
	}
}

func benchmarkUpdate(b *testing.B, at int) {
	db := newDB(b)
	rng := rand.New(rand.NewPCG(1, 1))
	table := func(version string) []Column {
		var columns [][]string
		for c := range 4 {
			var values []string
			for range 300 {
				values = append(values, fmt.Sprint("k", c, "-", rng.IntN(20000)))
			}
			columns = append(columns, values)
		}
		return columnsOf(b, version, columns...)
	}
	const tables = 2000
	var batch []Replacement
	for i := range tables {
		id := fmt.Sprintf("%d-0", i)
		if batch = append(batch, Replacement{New: id, Columns: table(id)}); len(batch) == 50 {
			putAll(b, db, batch...)
			batch = nil
		}
	}
	var next []Replacement
	for n := range b.N {
		i := n % tables
		r := Replacement{Old: fmt.Sprintf("%d-%d", i, n/tables), New: fmt.Sprintf("%d-%d", i, n/tables+1)}
		r.Columns = table(r.New)
		next = append(next, r)
	}
	b.ResetTimer()
	for batch := range slices.Chunk(next, at) {
		putAll(b, db, batch...)
	}
}
