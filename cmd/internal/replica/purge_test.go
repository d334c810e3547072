package replica_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/replica"
)

// holders returns the files of a directory that have certain bytes.
func holders(t *testing.T, dir string, b []byte) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it went meanwhile
		}
		if all, err := os.ReadFile(path); err == nil && bytes.Contains(all, b) {
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestBytesThatTheWriterPurgesGoFromTheDiskOfAReplica(t *testing.T) {
	t.Parallel()
	for _, remote := range []bool{false, true} {
		place := ""
		if remote {
			place = "file://" + t.TempDir()
		}
		w := newWriterOver(t, place)
		f := newFollowerOver(t, w, place)
		secret := make([]byte, 60_000)
		for i := range secret {
			secret[i] = byte(i * i >> 3)
		}
		secret = slices.Concat(secret, []byte("what is between"), bytes.Repeat([]byte{7}, 9))
		noise := bytes.Clone(secret)
		for i := range noise { // bytes that deflate stores as they are
			noise[i] = byte((uint64(i) * 0x9E3779B97F4A7C15) >> 40 * 31 >> 3)
		}
		ref, err := w.node.Content.Put(t.Context(), bytes.NewReader(noise), content.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f.same(w, map[content.Digest][]byte{ref.SHA256: noise})
		if remote {
			f.get("/") // nothing more to do: what it read of the bucket is in its cache
		}
		stored := storedPart(t, w.dir, f.dir)
		if len(holders(t, f.dir, stored)) == 0 {
			t.Fatal("the bytes are not found on the replica")
		}
		if _, err := w.node.Content.Purge(t.Context(), []content.Digest{ref.SHA256}, nil); err != nil {
			t.Fatal(err)
		}
		f.catchUp(w)
		for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			left := holders(t, filepath.Join(f.dir, "packs"), stored)
			if len(left) == 0 {
				break
			} else if time.Now().After(late) {
				t.Fatalf("remote %v: purged bytes are in %q", remote, left)
			}
		}
	}
}

// storedPart returns some bytes in the middle of what both directories have in their packs.
func storedPart(t *testing.T, dirs ...string) []byte {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dirs[0], "packs", "*.open"))
	if len(names) == 0 {
		t.Fatal("no open pack")
	}
	b, err := os.ReadFile(names[0])
	if err != nil || len(b) < 10_000 {
		t.Fatal(err, len(b))
	}
	return b[5000:5200]
}

func TestWhatAKilledReplicaHadCopiedOfAPackIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	f := newFollower(t, w)
	f.same(w, nil)
	f.end()
	left := filepath.Join(f.dir, "packs", "000000000009-00000000000000000000000000000009.pack.new")
	if err := os.MkdirAll(filepath.Dir(left), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("purged by now"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.same(w, nil)
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

func TestAReplicaThatIsStartedAgainWithoutItsWriterSaysHowOldItsStateIs(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	f := newFollower(t, w)
	f.same(w, nil)
	f.end()
	w.stop()
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(f.dir, "log", "tip"), hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.start()
		for f.f.Lag().Err == nil {
			time.Sleep(5 * time.Millisecond)
		}
		resp, _ := f.get("/sparql?query=ASK+%7B%7D")
		if l := f.f.Lag(); resp.StatusCode != 200 || resp.Header.Get(replica.LagHeader) == "" || l.Time < 59*time.Minute {
			t.Errorf("%d, %q, %v behind", resp.StatusCode, resp.Header.Get(replica.LagHeader), l.Time)
		}
		f.end()
	}
}
