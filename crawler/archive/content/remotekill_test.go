package content

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/bucket/tier"
	"odarchive/triplestore/kv"
)

// openKilled opens the store that TestKilledProcessWithABucket writes.
func openKilled(dir, url string, getenv func(string) string) (*kv.DB, *Store, error) {
	db, err := kv.Open(filepath.Join(dir, "db"), kv.Options{MinFree: -1})
	if err != nil {
		return nil, nil, err
	}
	remote, err := bucket.Open(context.Background(), url,
		bucket.Options{Stall: 300 * time.Millisecond, Attempts: 2, Backoff: time.Millisecond, Getenv: getenv})
	if err != nil {
		return nil, nil, err
	}
	s, err := Open(filepath.Join(dir, "packs"), db,
		Options{MinFree: -1, MaxPack: 300 << 10, Waste: 0.05, Remote: remote, RemoteCache: 500_000,
			RemoteLimit: 2 * time.Second, remoteBackoff: 5 * time.Millisecond, remotePause: 5 * time.Millisecond})
	return db, s, err
}

// TestKilledProcessWithABucket is the body of the child that TestNothingIsLostBetweenTheFolderAndTheBucket starts.
func TestKilledProcessWithABucket(t *testing.T) {
	dir := os.Getenv("CONTENT_TEST_BUCKET_CHILD")
	if dir == "" {
		t.Skip("only as a child process")
	}
	_, s, err := openKilled(dir, os.Getenv("CONTENT_TEST_URL"), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := strconv.ParseUint(os.Getenv("CONTENT_TEST_SEED"), 10, 64)
	r := rng(seed)
	data := table(r, 60_000)
	var sha Digest
	var alone Digest // of a file that shares nothing
	for i := 0; ; i++ {
		if _, err = s.Put(context.Background(), bytes.NewReader(data), PutOptions{Previous: sha}); err != nil {
			t.Fatal(err)
		}
		sha = sha256.Sum256(data)
		fmt.Printf("stored %s\n", sha)
		if data = edit(r, data); i%3 == 0 {
			data = noise(r, 120_000) // which fills packs
		}
		if i%10 == 9 { // either may fail while the bucket is away
			_, _ = s.Compact(context.Background())
		}
		switch i % 12 {
		case 3:
			own := noise(r, 50_000)
			if _, err = s.Put(context.Background(), bytes.NewReader(own), PutOptions{}); err != nil {
				t.Fatal(err)
			}
			alone = sha256.Sum256(own)
			fmt.Printf("stored %s\n", alone)
		case 11:
			fmt.Printf("purging %s\n", alone)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_, _ = s.Purge(ctx, []Digest{alone}, nil)
			cancel()
		}
	}
}

// said is what children reported.
type said struct{ stored, purging map[Digest]bool }

func (s said) line(text string) bool {
	word, hexed, _ := strings.Cut(text, " ")
	sum, err := hex.DecodeString(hexed)
	if err != nil || len(sum) != 32 {
		return false
	}
	switch word {
	case "stored":
		s.stored[Digest(sum)] = true
	case "purging":
		s.purging[Digest(sum)] = true
	}
	return true
}

func TestNothingIsLostBetweenTheFolderAndTheBucket(t *testing.T) {
	t.Parallel()
	if os.Getenv(bucketMode) != "" {
		t.Skip("has a bucket of its own")
	}
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	g := buckettest.StartGateway(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dir, chaos := t.TempDir(), rng(seed)
	heard := said{map[Digest]bool{}, map[Digest]bool{}}
	many, err := strconv.Atoi(os.Getenv("ROUNDS"))
	if err != nil {
		many = rounds(3)
	}
	for round := range many {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledProcessWithABucket$", "-test.v")
		cmd.Env = append(append(os.Environ(), "CONTENT_TEST_BUCKET_CHILD="+dir, "CONTENT_TEST_URL="+g.URL,
			"CONTENT_TEST_SEED="+strconv.Itoa(round)), g.Environ()...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var trouble sync.WaitGroup
		over := make(chan struct{})
		times := rng(chaos.Uint64()) // chaos itself is used below meanwhile
		next := func() time.Duration { return time.Duration(50+times.IntN(400)) * time.Millisecond }
		trouble.Go(func() { // the object store stops, and dies, and comes back
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				case <-time.After(next()):
				}
				if i%2 == round%2 {
					g.Pause()
					time.Sleep(next())
					g.Continue()
				} else {
					g.Kill()
					time.Sleep(next())
					g.Start()
				}
			}
		})
		in := bufio.NewScanner(out)
		for n := 0; n < 30+chaos.IntN(40) && in.Scan(); {
			if heard.line(in.Text()) {
				n++
			} else if strings.Contains(in.Text(), "FAIL") || strings.Contains(in.Text(), "_test.go") {
				t.Error(in.Text())
			}
		}
		cmd.Process.Kill()
		for in.Scan() { // what the child reported before it died
			heard.line(in.Text())
		}
		cmd.Wait()
		close(over)
		trouble.Wait()
	}
	checkKilled(t, g, dir, heard)
}

func checkKilled(t *testing.T, g *buckettest.Gateway, dir string, heard said) {
	db, s, err := openKilled(dir, g.URL, g.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer s.Close()
	for sha := range heard.purging {
		delete(heard.stored, sha)
		if _, err := s.Purge(t.Context(), []Digest{sha}, nil); err != nil {
			t.Errorf("purge: %v", err)
		}
	}
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.parity.waitIdle(t.Context())
	if err := s.FlushRemote(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sha := range heard.stored {
		if err := readAll(s, sha); err != nil {
			t.Errorf("%s: %v", sha, err)
		}
	}
	if v, err := s.Verify(t.Context(), VerifyOptions{Deep: true}); err != nil || v.Damaged > 0 {
		t.Errorf("verified %+v, %v", v, err)
	}
	if faults, err := s.CheckRemote(t.Context(), true, 0, nil); err != nil || len(faults) > 0 {
		t.Errorf("in the bucket: %v, %v", faults, err)
	}
	_, err = Salvage(t.Context(), s.fs, s.dir, func(f SalvagedFile) error {
		if heard.purging[f.SHA256] && f.Missing == 0 {
			t.Errorf("%s is purged, and can be extracted", f.SHA256)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	known := s.stats().Files
	for info, err := range s.opts.Remote.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.fs.Stat(filepath.Join(s.dir, info.Key)); isRemote(info.Key) && err != nil {
			t.Logf("an object that nothing knows: %s", info.Key) // an upload that was killed: Sweep deletes it
		} else if isRemote(info.Key) {
			known--
		}
	}
	if known != 0 {
		t.Errorf("%d files are not in the bucket", known)
	}
	t.Logf("%d files, %d purged, %+v", len(heard.stored), len(heard.purging), s.stats())
}

func (s *Store) stats() tier.Stats {
	st, _ := s.Remote()
	return st
}
