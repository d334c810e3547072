package replica_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/content"
)

// put stores n files of 9 MB that cannot be compressed; eight of them fill a pack.
func put(t *testing.T, w *writer, n int, files map[content.Digest][]byte) {
	t.Helper()
	for range n {
		b := make([]byte, 9<<20)
		_, _ = rand.NewChaCha8([32]byte{byte(len(files))}).Read(b)
		ref, err := w.node.Content.Put(context.Background(), bytes.NewReader(b), content.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		files[ref.SHA256] = b
	}
	if err := w.node.Content.FlushRemote(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func packsIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "packs", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAReplicaOfAWriterWithABucketHasAllBytes(t *testing.T) {
	t.Parallel()
	place := "file://" + t.TempDir()
	w := newWriterOver(t, place)
	files := map[content.Digest][]byte{}
	put(t, w, 9, files)
	if len(packsIn(t, w.dir)) != 0 {
		t.Fatal("the writer's closed packs are here, too")
	}
	copies, reads := newFollower(t, w), newFollowerOver(t, w, place)
	copies.same(w, files)
	reads.same(w, files)
	put(t, w, 8, files) // a pack that is open here first
	copies.same(w, files)
	reads.same(w, files)
	if got := len(packsIn(t, copies.dir)); got != 2 {
		t.Errorf("without --bytes, the replica has %d closed packs, not 2", got)
	}
	put(t, w, 8, files)
	for late := time.Now().Add(time.Minute); len(packsIn(t, reads.dir)) > 1; time.Sleep(10 * time.Millisecond) {
		// the last one may have come before it was in the bucket
		if time.Now().After(late) {
			t.Fatalf("with --bytes, the replica has copied %v", packsIn(t, reads.dir))
		}
	}
	for _, f := range []*follower{copies, reads} {
		f.same(w, files)
		f.end()
		f.bytes = "" // it remembers
		f.start()
		f.same(w, files)
		f.readAtRest(files) // beside the server
		f.end()
		f.readAtRest(files)
	}
}

// readAtRest reads files as a command does that is given the replica's directory.
func (f *follower) readAtRest(files map[content.Digest][]byte) {
	f.t.Helper()
	cfg := config.Defaults()
	cfg.Data = f.dir
	s, err := store.Open(context.Background(), cfg, slog.New(slog.DiscardHandler), store.Options{Reads: store.IfHeld})
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			f.t.Error(err)
		}
	}()
	for sha, want := range files {
		r, err := s.Content.Open(sha)
		if err != nil {
			f.t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if r.Close(); err != nil || !bytes.Equal(got, want) {
			f.t.Fatalf("%s at rest: %d bytes, %v", sha, len(got), err)
		}
	}
}

func TestAReplicaWhoseFirstCopyWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	files := map[content.Digest][]byte{}
	put(t, w, 9, files)
	whole := *w.live.Load()
	asked := make(chan struct{}, 1)
	var cut http.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/replicate/packs/") {
			select {
			case asked <- struct{}{}:
			default:
			}
			http.Error(rw, "later", http.StatusServiceUnavailable)
			return
		}
		whole.ServeHTTP(rw, r)
	})
	w.live.Store(&cut)
	f := newFollower(t, w)
	<-asked
	f.end()
	if _, err := os.Stat(filepath.Join(f.dir, "packs")); err != nil {
		t.Fatal(fmt.Errorf("the copy has not begun: %w", err))
	}
	w.live.Store(&whole)
	f.start()
	f.same(w, files)
}
