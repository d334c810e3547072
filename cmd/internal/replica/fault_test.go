package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/replica"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
)

// past is a state of the writer.
type past struct {
	quads []string
	files map[content.Digest][]byte
}

// TestAReplicaOnABadDiskShowsWholeStatesAndGoesOnWhenTheDiskIsWell has operations of the replica's disk fail, while it
// follows, is restored, or begins.
func TestAReplicaOnABadDiskShowsWholeStatesAndGoesOnWhenTheDiskIsWell(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 17))
			w := newWriter(t)
			bad := disktest.NewErrors(disk.OS{})
			bad.Short = true
			f := &follower{t: t, dir: filepath.Join(t.TempDir(), "replica"), of: w.web.URL + "/", fs: bad}
			f.begin()
			files, states := map[content.Digest][]byte{}, map[uint64]past{}
			f.same(w, files)
			for round := range 8 {
				bad.Reset()
				bad.Only(disktest.Changes, "")
				err := []error{syscall.ENOSPC, syscall.EIO}[random.IntN(2)]
				n := 1 + random.IntN(40)
				if random.IntN(2) == 0 {
					bad.FailAt(n, err)
				} else {
					bad.FailFrom(n, err)
				}
				restored := random.IntN(4) == 0
				if restored { // its log is trimmed while the replica is away
					f.stop()
					<-f.done // closing may fail, too
					f.stop = nil
				}
				for range 4 {
					change(t, w, random, files)
					states[w.node.DB.Position().Number] = past{quadsOf(t, w.node.Triples), maps.Clone(files)}
				}
				if restored {
					w.node.DB.Hold("token/nobody", 0)
					if err := w.node.DB.Purge(context.Background()); err != nil {
						t.Fatal(err)
					}
					states[w.node.DB.Position().Number] = past{quadsOf(t, w.node.Triples), maps.Clone(files)}
					f.start()
				}
				for late := time.Now().Add(300 * time.Millisecond); time.Now().Before(late) &&
					f.f.Lag().Number < w.node.DB.Position().Number; time.Sleep(5 * time.Millisecond) {
					f.isWhole(states)
				}
				f.isWhole(states)
				failed := bad.Failed()
				bad.Reset()
				select {
				case err := <-f.done: // it could not begin
					if !restored || len(failed) == 0 {
						t.Fatalf("round %d: ended: %v, after %q", round, err, failed)
					}
					f.start()
				default:
				}
				f.same(w, files)
			}
		})
	}
}

// isWhole compares the state that is served with that of the writer, if that is known.
func (f *follower) isWhole(states map[uint64]past) {
	f.t.Helper()
	_ = f.f.View(func(served replica.Node) error {
		n := served.(*app.Node)
		want, known := states[n.DB.Number()]
		if !known {
			return nil
		}
		if got := quadsOf(f.t, n.Triples); !slices.Equal(got, want.quads) {
			f.t.Errorf("write set %d: the quads differ", n.DB.Number())
		}
		for sha, b := range want.files {
			r, err := n.Content.Open(sha)
			if err != nil {
				f.t.Errorf("write set %d: %v", n.DB.Number(), err)
				continue
			}
			got, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, b) {
				f.t.Errorf("write set %d: %v", n.DB.Number(), err)
			}
		}
		return nil
	})
}

func TestAReplicaGoesOnAnsweringWhileItsDiskCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	bad := disktest.NewErrors(disk.OS{})
	f := &follower{t: t, dir: filepath.Join(t.TempDir(), "replica"), of: w.web.URL + "/", fs: bad}
	f.begin()
	files := map[content.Digest][]byte{}
	f.same(w, files)
	random := rand.New(rand.NewPCG(3, 3))
	for _, err := range []error{syscall.EIO, syscall.ENOSPC} {
		bad.Reset()
		bad.Only(disktest.Changes, "")
		bad.FailFrom(1, err)
		for range 10 {
			change(t, w, random, files)
		}
		for f.f.Lag().Err == nil {
			time.Sleep(time.Millisecond)
		}
		for late := time.Now().Add(2 * time.Second); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
			if resp, body := f.get("/sparql?query=ASK+%7B%7D"); resp.StatusCode != http.StatusOK {
				t.Fatalf("%v: %d %.200s", err, resp.StatusCode, body)
			}
		}
		if l := f.f.Lag(); l.Time < time.Second {
			t.Errorf("%v: %v behind", err, l.Time)
		}
		bad.Reset()
		f.same(w, files)
	}
}
