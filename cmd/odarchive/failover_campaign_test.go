//go:build campaign

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/bucket"
)

var (
	failoverRounds = flag.Int("failover-rounds", 20, "how often TestAFailoverLosesNothingAcknowledged loses a machine")
	failoverSeed   = flag.Uint64("failover-seed", uint64(time.Now().UnixNano()), "seed of what happens when")
)

// The test loses the machine of a writer with --backup-wait (SIGKILL, and its directory is gone) at random moments.
// Before that, the object store may go away or its disk fill up, the writer may be stopped or have no room. Then a
// follower is promoted, or the archive is restored elsewhere, and must have what any writer before has acknowledged:
// updates, and visits with their bytes.
func TestAFailoverLosesNothingAcknowledged(t *testing.T) {
	for _, kind := range []string{"file", "s3"} {
		t.Run(kind, func(t *testing.T) {
			t.Logf("-failover-rounds %d -failover-seed %d", *failoverRounds, *failoverSeed)
			w := newFailoverWorld(t, kind, rand.New(rand.NewPCG(*failoverSeed, 3)))
			n := w.serve(w.newDir(), nil)
			n.awaitWhole()
			for round := range *failoverRounds {
				w.round = round
				n = w.lose(n)
				if t.Failed() {
					break
				}
			}
			n.kill()
			w.verifyVault()
		})
	}
}

// ways in which another machine goes on after the writer.
const (
	promoteServer    = iota // the server that follows becomes the writer
	promoteDirectory        // it has ended, and its directory becomes that of a writer
	promoteLiving           // the writer lives, and is lost later
	restoreElsewhere
	failoverWays
)

// lose runs a writer with clients, loses its machine, and returns the next writer.
func (w *failoverWorld) lose(n *machine) *machine {
	way := w.r.IntN(failoverWays)
	var f *machine
	if way != restoreElsewhere {
		f = w.serve(w.newDir(), n)
	}
	stop := w.load(n)
	for range 1 + w.r.IntN(3) {
		w.pause(1500 * time.Millisecond)
		w.trouble(n)
	}
	w.pause(1500 * time.Millisecond)
	if way != promoteLiving {
		n.kill()
	}
	var dir string
	switch way {
	case promoteServer, promoteLiving:
		dir = f.dir
		w.untilDone("promote", "--data", dir, "--backup-to", w.url)
		w.pause(300 * time.Millisecond)
		n.kill()
	case promoteDirectory:
		f.kill()
		dir = f.dir
		w.untilDone("promote", "--data", dir, "--backup-to", w.url)
	case restoreElsewhere:
		dir = w.newDir()
		w.untilDone("restore", w.url, "--data", dir)
	}
	acked := stop()
	w.logf("way %d: %s", way, acked)
	if err := os.RemoveAll(n.dir); err != nil {
		w.t.Fatal(err)
	}
	if way == restoreElsewhere || way == promoteDirectory {
		w.check(dir)
		var args []string
		if way == restoreElsewhere {
			args = []string{"--promote"}
		}
		n = w.serve(dir, nil, args...)
		n.awaitWhole()
		return n
	}
	if w.r.IntN(3) == 0 { // else the next round says what there is
		f.kill()
		w.check(dir)
		f = w.serve(dir, nil)
	}
	f.awaitWhole()
	return f
}

// trouble makes something fail for a while.
func (w *failoverWorld) trouble(n *machine) {
	switch w.r.IntN(6) {
	case 0:
		w.away(true)
		w.pause(2 * time.Second)
		w.away(false)
	case 1:
		_ = n.cmd.Process.Signal(syscall.SIGSTOP)
		w.pause(2 * time.Second)
		_ = n.cmd.Process.Signal(syscall.SIGCONT)
	case 2:
		w.full(w.root)
	case 3:
		if w.gateway != nil {
			w.gateway.Pause()
			w.pause(2 * time.Second)
			w.gateway.Continue()
		} else {
			w.full(w.bucketRoot)
		}
	}
}

// full fills a disk for a while. Others may write to it meanwhile.
func (w *failoverWorld) full(dir string) {
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		w.t.Fatal(err)
	}
	for chunk := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(chunk)
	}
	w.pause(2 * time.Second)
	if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
		w.t.Fatal(err)
	}
}

// away takes the object store away, or brings it back.
func (w *failoverWorld) away(is bool) {
	switch {
	case w.gateway != nil && is:
		w.gateway.Kill()
	case w.gateway != nil:
		w.gateway.Start()
	default:
		from, to := filepath.Join(w.bucketRoot, "bucket"), filepath.Join(w.bucketRoot, "elsewhere")
		if !is {
			from, to = to, from
		}
		if err := os.Rename(from, to); err != nil {
			w.t.Fatal(err)
		}
	}
}

// untilDone runs a command, which is killed once or not at all, until it succeeds.
func (w *failoverWorld) untilDone(args ...string) {
	w.t.Helper()
	if w.r.IntN(3) == 0 {
		cmd := w.command(args...)
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		w.pause(800 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // "signal: killed", or it had ended
	}
	var out []byte
	var err error
	for range 3 {
		if out, err = w.command(args...).CombinedOutput(); err == nil || strings.Contains(string(out), "is no replica") ||
			strings.Contains(string(out), "is not empty") {
			return // the one that was killed was done
		}
		w.logf("%s: %v: %s", args[0], err, out)
	}
	w.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
}

// check compares an archive that nobody uses with all that was acknowledged.
func (w *failoverWorld) check(dir string) {
	w.t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Base = dir, failoverBase
	n, err := app.Open(w.t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Reads: store.IfHeld})
	if err != nil {
		w.t.Fatal(err)
	}
	defer n.Close()
	lost := 0
	for url, number := range w.visited {
		if err := hasFile(w.t.Context(), n, url, webFile(number)); err != nil {
			if lost++; lost < 5 {
				w.t.Errorf("round %d: a visit was acknowledged: %s: %v", w.round, url, err)
			}
		}
	}
	var out bytes.Buffer
	if err := n.Close(); err != nil {
		w.t.Error(err)
	}
	if status := run(w.t.Context(), []string{"query", "--data", dir, "--format", "csv", "SELECT ?n { <urn:x:a> <urn:x:n> ?n }"},
		strings.NewReader(""), &out, os.Stderr); status != 0 {
		w.t.Fatalf("query: status %d", status)
	}
	there := make(map[int]bool)
	for line := range strings.FieldsSeq(out.String()) {
		number, _ := strconv.Atoi(line)
		there[number] = true
	}
	missing := 0
	for number := range w.updated {
		if !there[number] {
			missing++
		}
	}
	if lost+missing > 0 {
		w.t.Errorf("round %d: %d of %d visits and %d of %d updates that were acknowledged are lost", w.round, lost, len(w.visited), missing,
			len(w.updated))
	}
	w.logf("%d visits and %d updates are there", len(w.visited)-lost, len(w.updated)-missing)
}

func hasFile(ctx context.Context, n *app.Node, url string, want []byte) error {
	v, err := n.Archive.Newest(ctx, url)
	if err != nil {
		return err
	}
	body, err := n.Archive.Open(ctx, v.ID)
	if err != nil {
		return err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return err
	}
	if [32]byte(sum.Sum(nil)) != sha256.Sum256(want) {
		return errors.New("other bytes")
	}
	return nil
}

// verifyVault reads all of the backup.
func (w *failoverWorld) verifyVault() {
	w.t.Helper()
	o := bucket.Options{}
	if w.gateway != nil {
		o.Getenv = w.gateway.Getenv
	}
	b, err := bucket.Open(w.t.Context(), w.url, o)
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := vault.Open(w.t.Context(), b)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := h.Verify(w.t.Context(), nil)
	if err != nil || len(v.Faults) > 0 {
		text, _ := json.Marshal(v.Faults)
		w.t.Errorf("verify: %v, %s", err, text)
	}
	w.logf("%d objects, %d records", v.Objects, v.Records)
}

func (w *failoverWorld) pause(most time.Duration) { time.Sleep(time.Duration(w.r.Int64N(int64(most)))) }

func (w *failoverWorld) logf(form string, args ...any) {
	w.t.Helper()
	w.t.Logf("%s round %d: %s", time.Now().Format("15:04:05.000"), w.round, fmt.Sprintf(form, args...))
}
