package series

import (
	"math/rand/v2"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func openDB(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var start = time.Date(2026, 11, 21, 6, 2, 0, 0, time.UTC)

func add(t testing.TB, db *kv.DB, at time.Time, visits ...Visit) {
	t.Helper()
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		for _, v := range visits {
			if err := Add(txn, at, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func size(t testing.TB, db *kv.DB) (slots, bytes int) {
	t.Helper()
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceSeries, nil, nil, func(k, v []byte) (bool, error) {
			slots++
			bytes += len(k) + len(v)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return slots, bytes
}

func TestVisitsAreCountedByTheTimeOfTheirSlot(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	add(t, db, start, Visit{Outcome: catalog.Archived, Bytes: 1000, Took: 1500 * time.Millisecond},
		Visit{Outcome: catalog.NoVersion, Class: catalog.ErrTimeout})
	add(t, db, start.Add(time.Minute), Visit{Outcome: catalog.Unchanged, Took: time.Second})
	add(t, db, start.Add(10*time.Minute), Visit{Outcome: "something new", Class: "new"})
	all, err := Read(db, start.Add(-10*time.Minute), start.Add(15*time.Minute), Fine)
	if err != nil || len(all) != 6 || !all[2].At.Equal(start.Truncate(Fine)) {
		t.Fatalf("%+v, %v", all, err)
	}
	s := all[2]
	if s.Visits != 3 || s.Outcomes[catalog.Archived] != 1 || s.Outcomes[catalog.NoVersion] != 1 || s.Errors[catalog.ErrTimeout] != 1 ||
		s.Bytes != 1000 || s.Seconds != 2.5 {
		t.Errorf("%+v", s)
	}
	if s := all[4]; s.Visits != 1 || s.Outcomes[""] != 1 || s.Errors[""] != 1 {
		t.Errorf("%+v", s)
	}
	if all[0].Visits+all[1].Visits+all[3].Visits+all[5].Visits != 0 {
		t.Errorf("%+v", all)
	}
	all, err = Read(db, start.Add(-10*time.Minute), start.Add(time.Hour), time.Hour)
	if err != nil || len(all) != 3 || all[1].Visits != 4 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAYearIsKeptInBoundedBytesAndLosesNoVisit(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	r := rand.New(rand.NewPCG(1, 2))
	at, n := start, int64(0)
	for at.Before(start.Add(390 * 24 * time.Hour)) {
		var visits []Visit
		for range 1 + r.IntN(20) {
			visits = append(visits,
				Visit{Outcome: outcomes[1+r.IntN(6)], Class: classes[r.IntN(len(classes))], Bytes: r.Int64N(1 << 24),
					Took: time.Duration(r.Int64N(int64(time.Minute)))})
		}
		add(t, db, at, visits...)
		n += int64(len(visits))
		at = at.Add(time.Duration(6+r.IntN(18))*time.Hour + time.Duration(r.IntN(60))*time.Minute)
	}
	all, err := Read(db, start, at, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, s := range all {
		sum += s.Visits
	}
	slots, bytes := size(t, db)
	full := counts{countBytes: 1 << 40, countMillis: 1 << 30}
	for i := range outcomes {
		full[firstOutcome+uint64(i)] = 1 << 20
	}
	for i := range classes {
		full[firstClass+uint64(i)] = 1 << 14
	}
	if most := len(full.encode()) + 9; most*(400*24+2*48*12) > 2<<20 {
		t.Errorf("a slot may take %d bytes", most)
	}
	if sum != n || slots > 400*24+2*24*12+100 || bytes > 2<<20 {
		t.Errorf("%d of %d visits in %d slots, %d bytes", sum, n, slots, bytes)
	}
	// What is older than a year goes; so does what a clock that was ahead has left.
	for i := range 50 {
		add(t, db, at.Add(Kept+time.Duration(i)*Fine), Visit{Outcome: catalog.Archived})
	}
	if slots, _ := size(t, db); slots > 48+12*48 {
		t.Errorf("%d slots are left", slots)
	}
	for i := range 20 {
		add(t, db, start.Add(time.Duration(i)*Fine), Visit{Outcome: catalog.Archived})
	}
	if all, err := Read(db, at.Add(Kept), at.Add(Kept+48*time.Hour), time.Hour); err != nil || all[0].Visits != 0 {
		t.Errorf("%+v, %v: of a future that did not come", all[0], err)
	}
}

func TestDamagedSlotsBeginAgain(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		if err := txn.Set(kv.SpaceSeries, slotKey(keyFine, start), []byte{7, 7}); err != nil {
			return err
		}
		return txn.Set(kv.SpaceSeries, []byte("m odd"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	add(t, db, start, Visit{Outcome: catalog.Archived})
	if all, err := Read(db, start, start.Add(Fine), Fine); err != nil || all[0].Visits != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if slots, _ := size(t, db); slots != 1 {
		t.Errorf("%d records", slots)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(counts{1: 2, 11: 1 << 40}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(c.encode())
		if err != nil || len(again) != len(c) {
			t.Fatalf("%v, %v, %v", c, again, err)
		}
		c.into(&Slot{Outcomes: map[catalog.Outcome]int64{}, Errors: map[catalog.ErrorClass]int64{}})
	})
}

func BenchmarkAdd(b *testing.B) {
	db := openDB(b)
	err := db.Update(b.Context(), func(txn *kv.Txn) error {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := Add(txn, start,
				Visit{Outcome: catalog.NoVersion, Class: classes[i%len(classes)], Bytes: 1, Took: time.Second}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
