package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/disk/disktest"
)

func TestAFetchWithoutRoomForItsBytesIsRecordedAndTriedAgainSoon(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNodeIn(t, t.TempDir(), content.Options{NoSync: true, MinFree: 1 << 60})
	s.set("/a.csv", "id,name\n1,Ada\n")
	n.add(t, s.URL+"/a.csv", s.URL+"/b.csv")
	got := n.crawl(t, RunOptions{})
	if r := got["/a.csv"]; r.Outcome != catalog.NoVersion || r.ErrorClass != catalog.ErrDiskFull || r.Versions != 0 ||
		!strings.Contains(r.Why, "full") {
		t.Errorf("without room: %+v", r)
	}
	if r := got["/b.csv"]; r.ErrorClass != catalog.ErrHTTPStatus {
		t.Errorf("the file after it: %+v", r)
	}
	n.clock.advance(noRoomPause)
	if again := n.crawl(t, RunOptions{}); len(again) != 1 || again["/a.csv"].ErrorClass != catalog.ErrDiskFull {
		t.Errorf("after the pause: %+v", again)
	}
}

func TestTheFirstFetchWithoutRoomHoldsTheCrawlBeforeTheNextLease(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNodeIn(t, t.TempDir(), content.Options{NoSync: true, MinFree: 1 << 60})
	n.Workers = 1
	n.Refused = func() { n.full.Store(true) }
	const files = 40
	for i := range files {
		s.set(fmt.Sprintf("/%d.csv", i), "id,name\n1,Ada\n")
		n.add(t, fmt.Sprintf("%s/%d.csv", s.URL, i))
	}
	var reports []Report
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) { reports = append(reports, r) }})
	if !errors.Is(err, frontier.ErrPaused) || len(reports) != 1 || reports[0].ErrorClass != catalog.ErrDiskFull {
		t.Errorf("without room: %v, %d fetches %+v; want one, and a pause", err, len(reports), reports)
	}
	n.full.Store(false)
	n.Refused = nil
	if again := n.crawl(t, RunOptions{}); len(again) != files-1 {
		t.Errorf("after the pause %d files were tried, want the other %d", len(again), files-1)
	}
}

func TestOnAFullDiskTheArchiveServesAndGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	disk := disktest.Small(t, "1m")
	s, n := newSite(t), newNodeIn(t, disk, content.Options{NoSync: true, MinFree: -1})
	small, large := "id,name\n1,Ada\n", noise(800_000)
	s.set("/small.csv", small)
	n.add(t, s.URL+"/small.csv", s.URL+"/large.bin")
	n.crawl(t, RunOptions{})
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 600_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s.set("/large.bin", large)
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})["/large.bin"]; r.Outcome != catalog.NoVersion || r.ErrorClass != catalog.ErrDiskFull {
		t.Fatalf("a file larger than the disk: %+v", r)
	}
	if got := n.bytesOf(t, s.URL+"/small.csv"); got != small {
		t.Errorf("on the full disk %q is served, want %q", got, small)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	n.clock.advance(2 * noRoomPause) // it failed before too: the first time, the file was missing
	if r := n.crawl(t, RunOptions{})["/large.bin"]; r.Outcome != catalog.Archived || r.Versions != 1 {
		t.Fatalf("with room again: %+v", r)
	}
	if n.bytesOf(t, s.URL+"/large.bin") != large {
		t.Error("the bytes stored after the disk was full are not the file's")
	}
}

func TestABodyLeavesTheRoomThatTheDatabaseNeeds(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	disk := disktest.Small(t, "16m")
	bodies, err := spool.New(disk, spool.Options{MemoryPerFile: 10})
	if err != nil {
		t.Fatal(err)
	}
	f := bodies.Create()
	written := 0
	for err == nil {
		var k int
		k, err = f.Write(make([]byte, 256<<10))
		written += k
	}
	if !errors.Is(err, spool.ErrFull) || written < size/4 || written > size*22/32 {
		t.Errorf("%d bytes of %d were taken: %v", written, size, err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, onDisk := bodies.Usage(); onDisk != 0 {
		t.Errorf("%d bytes are still counted", onDisk)
	}
}

func (n *node) bytesOf(t *testing.T, url string) string {
	t.Helper()
	v, err := n.Pipeline.Archive.Latest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	r, err := n.Pipeline.Archive.Bytes().Open(v.Digests.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.NewSectionReader(r, 0, v.Size)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}
