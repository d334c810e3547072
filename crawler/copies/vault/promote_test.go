package vault

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// replicate makes a replica of an archive's database, without packs.
func (a *archive) replicate(dir string) {
	a.t.Helper()
	s, err := a.db.OpenState(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	defer s.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, kv.ReplicaFile), []byte("{}"), 0o644); err != nil {
		a.t.Fatal(err)
	}
	if err := kv.CreateReplica(a.t.Context(), dir, kv.Options{}, io.NewSectionReader(s, 0, s.Size), s.Position); err != nil {
		a.t.Fatal(err)
	}
}

// follow applies what the archive has committed to a replica.
func (a *archive) follow(dir string) {
	a.t.Helper()
	db, err := kv.Open(dir, kv.Options{Replica: true})
	if err != nil {
		a.t.Fatal(err)
	}
	var list []kv.Record
	for r, err := range a.db.Records(a.t.Context(), db.Position(), false) {
		if err != nil {
			a.t.Fatal(err)
		}
		r.Body = append([]byte(nil), r.Body...)
		list = append(list, r)
	}
	if len(list) > 0 {
		if err := db.Apply(a.t.Context(), list); err != nil {
			a.t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// parting makes two replicas of an archive that has ended: one of what the vault has, and one of what the archive has,
// which has more.
func parting(t *testing.T, b bucket.Bucket, more func(a *archive)) (one, parted string) {
	t.Helper()
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 5 {
		a.mustPut(n)
	}
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	one, parted = filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "parted")
	a.replicate(one)
	a.end()
	more(a)
	a.replicate(parted)
	a.follow(parted)
	a.close()
	return one, parted
}

// promoted makes a replica the writer, and starts it.
func promoted(t *testing.T, b bucket.Bucket, dir string) *archive {
	t.Helper()
	if _, err := Promote(t.Context(), b, dir, Candidate{Holder: Holder(dir), Lease: time.Second},
		PromoteOptions{Log: testLog(t)}); err != nil {
		t.Fatal(err)
	}
	a := open4(t, dir)
	if err := a.keep(b, Options{Holder: Holder(dir), Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	return a
}

func TestAPromotedReplicaHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 10 {
		a.mustPut(n)
	}
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	behind, dir := filepath.Join(t.TempDir(), "behind"), filepath.Join(t.TempDir(), "other")
	a.replicate(behind)
	for n := 10; n < 30; n++ {
		a.mustPut(n)
	}
	a.replicate(dir)
	a.follow(dir)
	// Clients go on writing while the replica is promoted.
	acked, done := 30, make(chan error)
	go func() {
		for {
			if err := a.put(acked); err != nil {
				done <- err
				return
			}
			acked++
		}
	}()
	time.Sleep(20 * time.Millisecond)
	p, err := Promote(t.Context(), b, behind, Candidate{Holder: Holder(behind), URL: "http://b/", Lease: time.Second},
		PromoteOptions{Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrFenced) {
		t.Errorf("the clients of the old writer get %v", err)
	}
	if p.Fetched == 0 || kv.IsReplica(behind) {
		t.Errorf("%+v", p)
	}
	c := open4(t, behind)
	for n := range acked {
		if err := c.db.View(func(tx *kv.Txn) error {
			_, found, err := tx.Get(kv.SpaceTest, keyOf(n))
			if !found {
				t.Errorf("%d was acknowledged and is lost", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.check(); n < acked {
		t.Errorf("%d files, %d were acknowledged", n, acked)
	}
	if err := c.keep(b, Options{Wait: true, Holder: Holder(behind)}); err != nil {
		t.Fatal(err)
	}
	c.waitWhole()
	for n := 1000; n < 1020; n++ {
		c.mustPut(n)
	}
	m := c.remember(-1)
	c.close()
	restored(t, b, m)

	// What was a replica of the old writer at its end has records that the history does not have, or has it all.
	if _, err := Promote(t.Context(), b, dir, Candidate{Holder: "third", Lease: time.Second}, PromoteOptions{Log: nil}); err != nil {
		t.Fatal(err)
	}
	d := open4(t, dir)
	if got := dump(t, d.db); got != m.content {
		t.Errorf("the second replica has %s, not %s", got, m.content)
	}
}

func TestAReplicaWithAnotherHistoryIsNotPromoted(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := begun(t, b, Options{})
	other := open4(t, filepath.Join(t.TempDir(), "other"))
	other.mustPut(0)
	dir := filepath.Join(t.TempDir(), "replica")
	other.replicate(dir)
	other.follow(dir)
	if _, err := Promote(t.Context(), b, dir, Candidate{Holder: "x", Lease: time.Second}, PromoteOptions{Log: nil}); !errors.Is(err,
		kv.ErrOtherHistory) {
		t.Errorf("got %v", err)
	}
	if err := a.put(1); err != nil { // the writer was not disturbed
		t.Error(err)
	}
	a.waitWhole()
}

// The state file of a new archive is empty, and that of an archive that was restored may be. Neither belongs to the
// other's history.
func TestAnEmptyStateFileBelongsToItsOwnHistory(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	a.mustPut(0)
	early := a.remember(1)
	a.mustPut(1)
	late := a.remember(2)
	a.close()
	c := restored(t, b, early)
	w, err := Take(t.Context(), b, Candidate{Holder: "c", Force: true, check: byEnd(func(wal.Position) (bool, wal.Position, error) {
		return true, c.db.Position(), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	// The machine is lost before the first whole copy of the new history.
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if h.isWhole() {
		t.Error("a history without a state file is whole")
	}
	restored(t, b, late)

	// It is lost when there is a state file, and not yet the records that an empty one needs.
	empty := snapshot{epoch: w.Epoch(), at: milliOf(time.Now())}
	if err := b.Put(t.Context(), empty.name(), 0, nothing(), bucket.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if h, err = Open(t.Context(), b); err != nil || h.isWhole() {
		t.Errorf("a history of which the beginning is not there is whole, %v", err)
	}
	restored(t, b, late)
	if faults, err := verify(t, b); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "no complete copy") {
		t.Errorf("verify: %v, %v", faults, err)
	}
	if err := b.Delete(t.Context(), empty.name()); err != nil {
		t.Fatal(err)
	}
	if err := c.keep(b, Options{Holder: "c"}); err != nil {
		t.Fatal(err)
	}
	c.waitWhole()
	c.mustPut(2)
	now := c.remember(2)
	c.close()
	if faults, err := verify(t, b); err != nil || len(faults) > 0 {
		t.Errorf("verify: %v, %v", faults, err)
	}
	if h, err = Open(t.Context(), b); err != nil || len(h.Moments()) != 2 {
		t.Errorf("%v, %v", h.Moments(), err)
	}
	for _, m := range []moment{early, late, now} {
		restored(t, b, m)
	}
}

// Two followers see the same silence and want to take over. One of them becomes the writer; the other one stays a
// replica, takes nothing from the first one, and can become the writer later.
func TestOneOfTwoFollowersBecomesTheWriter(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} { // the second one only when the first one writes
		b := new(buckettest.Memory)
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		for n := range 10 {
			a.mustPut(n)
		}
		if err := a.keep(b, Options{Wait: true}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		dirs := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")}
		for _, dir := range dirs {
			a.replicate(dir)
		}
		a.close()
		sign, _, _, err := Lives(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		errs, won := make([]error, 2), -1
		promote := func(i int, silent string) error {
			_, err := Promote(t.Context(), b, dirs[i],
				Candidate{Holder: Holder(dirs[i]), URL: "http://" + filepath.Base(dirs[i]) + "/", Lease: time.Second, Silent: silent},
				PromoteOptions{Log: testLog(t)})
			return err
		}
		var group sync.WaitGroup
		for i := range dirs {
			if i == 1 && later {
				break
			}
			group.Go(func() { errs[i] = promote(i, sign) })
		}
		group.Wait()
		for i, err := range errs {
			if err == nil && won < 0 && !(later && i == 1) {
				won = i
			} else if err == nil && !later {
				t.Fatal("both are the writer")
			}
		}
		if won < 0 {
			t.Fatalf("none is the writer: %v", errs)
		}
		w := open4(t, dirs[won])
		if err := w.keep(b, Options{Wait: true, Holder: Holder(dirs[won])}); err != nil {
			t.Fatal(err)
		}
		w.waitWhole()
		w.mustPut(10)
		loser := 1 - won
		if later {
			errs[loser] = promote(loser, sign)
		}
		if !errors.Is(errs[loser], ErrInUse) && !errors.Is(errs[loser], ErrFenced) || !MustNotWrite(errs[loser]) {
			t.Errorf("the loser gets %v", errs[loser])
		}
		if !kv.IsReplica(dirs[loser]) {
			t.Error("the loser is no replica any more")
		}
		if err := w.put(11); err != nil {
			t.Errorf("the one that won: %v", err)
		}
		w.close()
		if err := promote(loser, ""); err != nil {
			t.Errorf("the loser, later: %v", err)
		}
	}
}

// A replica got a write set from a writer that was replaced before the vault had it. It must not disturb the writer
// that the archive has now.
func TestAReplicaThatPartedIsNotPromoted(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	one, parted := parting(t, b, func(a *archive) { a.mustPut(5) })
	c := promoted(t, b, one)
	for n := 6; n < 20; n++ {
		c.mustPut(n)
	}
	for range 2 {
		if _, err := Promote(t.Context(), b, parted, Candidate{Holder: "parted", Lease: time.Second},
			PromoteOptions{Log: testLog(t)}); !errors.Is(err, ErrParted) {
			t.Fatal(err)
		}
	}
	if err := c.put(20); err != nil {
		t.Errorf("the writer was disturbed: %v", err)
	}
	c.waitWhole()
}
