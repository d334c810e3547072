package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
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

// withoutLeaves drops the transparency log.
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

func TestVersionsWithoutALeafAreLoggedInTheOrderOfTheirCommits(t *testing.T) {
	t.Parallel()
	a := withVersions(t, 4, 3)
	withoutLeaves(t, a)
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 12 {
		t.Fatalf("%d added, %v", added, err)
	}
	sound(t, a, 12)
	for want := 0; want < 2; want++ {
		if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
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
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
		t.Errorf("after a further version: %d added, %v", added, err)
	}
}

func TestLoggingVersionsWithoutALeafContinuesWhereItStopped(t *testing.T) {
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
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 6 {
		t.Errorf("%d added, %v", added, err)
	}
	sound(t, a, 11)
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
		t.Errorf("mended: %d, %v", added, err)
	}
}

// withHead commits a version with what was on the wire, and returns it.
func withHead(t *testing.T, a *Archive, link, body string) catalog.Version {
	t.Helper()
	register(t, a, catalog.Seed{URL: link})
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	act := catalog.Activity{URL: link, Start: day, End: day.Add(time.Second), Outcome: catalog.Archived, Status: 200}
	act, err = a.Commit(t.Context(),
		Visit{Activity: act, Kept: &Kept{Ref: ref, Type: "text/csv", Exchange: &catalog.Exchange{Head: []byte("HTTP/1.1 200 OK\r\n\r\n")}}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Version(t.Context(), act.Version)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func rootOf(t *testing.T, a *Archive) (root string) {
	t.Helper()
	err := transparency.View(a.db, func(txn transparency.Txn) error {
		size, err := txn.Size()
		if err != nil {
			return err
		}
		for i := range size { // the state alone has the root of so few leaves
			l, err := txn.Leaf(i)
			if err != nil {
				return err
			}
			root += fmt.Sprintf("%x ", l.Encode())
		}
		tree, err := txn.Tree(size)
		root += tree.Hash.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Whatever is taken from a version's records afterwards, its leaf stays what it was.
func TestTheLeafOfAVersionStaysWhenItsRecordsChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *Archive, catalog.Version) error{
		"it is withdrawn": func(t *testing.T, a *Archive, v catalog.Version) error {
			if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{v.ID}},
				catalog.Withdrawal{At: day, Status: 451, Reason: "a test"}); err != nil {
				return err
			}
			_, err := a.PurgeWithdrawn(t.Context(), nil, nil)
			return err
		},
		"it is an error page": func(t *testing.T, a *Archive, v catalog.Version) error {
			return a.update(t.Context(), func(u *update) error { _, err := u.markErrorPage(v.ID, "the same on every page"); return err })
		},
		"its head is lost": func(t *testing.T, a *Archive, v catalog.Version) error {
			err := a.db.Update(t.Context(), func(txn *kv.Txn) error {
				return txn.Set(kv.SpaceArchive, records.VersionKey('z', v.ID[:24], v.N), []byte{1, 2, 3})
			})
			return errors.Join(err, a.LoseExchange(t.Context(), v.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchive(t)
			var all []catalog.Version
			for i := range 5 {
				all = append(all, withHead(t, a, fmt.Sprintf("http://data.example/%d.csv", i), fmt.Sprintf("a,b\n%d,1\n", i)))
			}
			before := rootOf(t, a)
			if err := change(t, a, all[2]); err != nil {
				t.Fatal(err)
			}
			if got := rootOf(t, a); got != before {
				t.Errorf("the log is\n%s, want\n%s", got, before)
			}
			sound(t, a, 5)
			if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
				t.Errorf("mended: %d, %v", added, err)
			}
			withHead(t, a, "http://data.example/0.csv", "a,b\n0,2\n")
			sound(t, a, 6)
		})
	}
}

func TestARepairStoresALeafThatItsRecordNoLongerLeadsTo(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var last catalog.Version
	for i := range 5 {
		last = withHead(t, a, fmt.Sprintf("http://data.example/%d.csv", i), fmt.Sprintf("a,b\n%d,1\n", i))
	}
	before := rootOf(t, a)
	err := a.db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Delete(kv.SpaceArchive, records.VersionKey('z', last.ID[:24], 0))
	})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := a.CheckLeaves(t.Context()); err != nil || c.Found != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if added, err := a.MendLeaves(t.Context()); err != nil || added != 0 {
		t.Errorf("%d added, %v", added, err)
	}
	sound(t, a, 5)
	if got := rootOf(t, a); got != before {
		t.Errorf("the log is\n%s, want\n%s", got, before)
	}
}
