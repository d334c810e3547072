package replica_test

import (
	"bytes"
	"errors"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

func TestAReplicaLeavesRoomForItsDatabase(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	f := &follower{t: t, dir: filepath.Join(t.TempDir(), "replica"), of: w.web.URL + "/"}
	f.begin()
	f.same(w, nil)
	f.end()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(f.dir, &disk); err != nil {
		t.Fatal(err)
	}
	f.room = int64(disk.Bavail) * disk.Bsize / 10 * 6 // the database has this, and not twice as much
	f.start()
	if _, err := w.node.Content.Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte("a"), 1000)), content.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	for !errors.Is(f.f.Lag().Err, kv.ErrDiskFull) {
		time.Sleep(time.Millisecond)
	}
	if resp, _ := f.get("/sparql?query=ASK+%7B%7D"); resp.StatusCode != http.StatusOK {
		t.Errorf("on a full disk: %d", resp.StatusCode)
	}
}
