package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// withVersions returns an archive with some versions of some files.
func withVersions(t *testing.T, files, versions int) *Archive {
	t.Helper()
	a := newArchive(t)
	for i := range files {
		link := fmt.Sprintf("http://data.example/%d.csv", i)
		register(t, a, catalog.Seed{URL: link})
		for n := range versions {
			visit(t, a, link, fmt.Sprintf("a,b\n%d,%d\n", i, n), day.Add(time.Duration(i*versions+n)*time.Minute))
		}
	}
	return a
}

func sound(t *testing.T, a *Archive, leaves int64) {
	t.Helper()
	if c, err := a.CheckLeaves(t.Context()); err != nil || c.Found > 0 || c.Leaves != leaves {
		t.Errorf("%+v, %v; want %d leaves and no fault", c, err, leaves)
	}
}

func TestEachVersionIsALeafOfItsTransactionAndCanBeProved(t *testing.T) {
	t.Parallel()
	a := withVersions(t, 3, 2)
	visit(t, a, "http://data.example/0.csv", "a,b\n0,1\n", day.Add(time.Hour)) // unchanged
	sound(t, a, 6)
	versions, err := a.Versions(t.Context(), "http://data.example/2.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Prove(versions[1].ID, nil, nil); !errors.Is(err, transparency.ErrNotLogged) {
		t.Errorf("before a checkpoint: %v", err)
	}
	file := filepath.Join(t.TempDir(), "key")
	key, err := transparency.NewKey(file, "archive.example/log")
	if err != nil {
		t.Fatal(err)
	}
	s := &transparency.Signer{DB: a.db, File: file}
	yesterday, err := s.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	visit(t, a, file0, "a,b\n0,2\n", day.Add(2*time.Hour))
	if _, err := s.Sign(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, checkpoint := range [][]byte{nil, yesterday.Note} {
		p, err := a.Prove(versions[1].ID, checkpoint, key.Public)
		if err != nil {
			t.Fatal(err)
		}
		trusted, err := transparency.Verifiers(key.Public)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Verify(sha256.Sum256([]byte("a,b\n2,1\n")), transparency.Trusted{Keys: trusted, Checkpoint: checkpoint})
		if err != nil || v.URL != versions[1].URL || v.N != 1 || !v.At.Equal(versions[1].At) || v.Recorded {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

const file0 = "http://data.example/0.csv"

func TestCheckFindsVersionsThatAreNotThoseOfTheLog(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(records.Txn, *catalog.Version) error{
		"digest": func(t records.Txn, v *catalog.Version) error { v.Digests.SHA256[3] ^= 1; return t.SetVersion(*v) },
		"time":   func(t records.Txn, v *catalog.Version) error { v.At = v.At.Add(time.Second); return t.SetVersion(*v) },
		"removed": func(t records.Txn, v *catalog.Version) error {
			return t.Delete(kv.SpaceArchive, records.VersionKey('v', v.ID[:24], v.N))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := withVersions(t, 2, 2)
			versions, err := a.Versions(t.Context(), file0)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.db.Update(t.Context(), func(txn *kv.Txn) error { return harm(records.Txn{Txn: txn}, &versions[0]) }); err != nil {
				t.Fatal(err)
			}
			if c, err := a.CheckLeaves(t.Context()); err != nil || c.Found == 0 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// withoutLeaves makes the archive one of an older program, which had no transparency log.
func withoutLeaves(t *testing.T, a *Archive) {
	t.Helper()
	err := a.db.Update(t.Context(), func(txn *kv.Txn) error {
		var keys [][]byte
		err := txn.Scan(kv.SpaceTransparency, nil, nil, func(k, _ []byte) (bool, error) {
			keys = append(keys, append([]byte(nil), k...))
			return true, nil
		})
		for _, k := range keys {
			err = errors.Join(err, txn.Delete(kv.SpaceTransparency, k))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheVersionsOfAnOlderProgramAreLoggedInTheOrderOfTheirCommits(t *testing.T) {
	t.Parallel()
	a := withVersions(t, 4, 3)
	withoutLeaves(t, a)
	if added, err := a.LogLeaves(t.Context()); err != nil || added != 12 {
		t.Fatalf("%d added, %v", added, err)
	}
	sound(t, a, 12)
	for want := 0; want < 2; want++ {
		if added, err := a.LogLeaves(t.Context()); err != nil || added != 0 {
			t.Errorf("again: %d added, %v", added, err)
		}
	}
	err := transparency.View(a.db, func(txn transparency.Txn) error {
		last := time.Time{}
		for i := range int64(12) {
			leaf, err := txn.Leaf(i)
			if err != nil || leaf.Flags != transparency.FromRecords || leaf.At.Before(last) {
				t.Errorf("leaf %d: %+v, %v", i, leaf, err)
			}
			last = leaf.At
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	visit(t, a, file0, "a,b\n7,7\n", day.Add(time.Hour))
	sound(t, a, 13)
	if added, err := a.LogLeaves(t.Context()); err != nil || added != 0 {
		t.Errorf("after a further version: %d added, %v", added, err)
	}
}

func TestLoggingTheVersionsOfAnOlderProgramContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	a := withVersions(t, 5, 2)
	withoutLeaves(t, a)
	err := a.update(t.Context(), func(u *update) error { // as a batch that was the last one before a crash
		_, err := u.logOldLeaves(t.Context(), 0, 4)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	visit(t, a, file0, "a,b\n8,8\n", day.Add(time.Hour)) // even if somebody writes meanwhile
	if added, err := a.LogLeaves(t.Context()); err != nil || added != 6 {
		t.Errorf("%d added, %v", added, err)
	}
	sound(t, a, 11)
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
		t.Errorf("mended: %d, %v", added, err)
	}
}
