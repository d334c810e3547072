package vault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
)

// TestWriterOfTheCampaign is the process that TestKilledWritersAndStores kills: it writes, and prints what it has
// acknowledged, and at times what the whole archive contains.
func TestWriterOfTheCampaign(t *testing.T) {
	dir := os.Getenv("VAULT_CHILD")
	if dir == "" {
		t.Skip("only as a child process")
	}
	var written time.Time
	_ = filepath.WalkDir(filepath.Join(dir, "log"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.ModTime().After(written) {
				written = info.ModTime()
			}
		}
		return nil // there may be no log yet
	})
	b, err := bucket.Open(t.Context(), os.Getenv("VAULT_URL"), bucket.Options{Stall: time.Second, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(os.Getenv("VAULT_FROM"))
	wait := os.Getenv("VAULT_WAIT") != ""
	a := open4(t, dir)
	if err := a.keep(b, Options{Wait: wait, Every: 50 * time.Millisecond, Lease: time.Second, Holder: Holder(os.Getenv("VAULT_HOLDER")),
		Written: written}); err != nil {
		fmt.Println("refused", err)
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for ; ; n++ {
		if err := a.put(n); err != nil {
			fmt.Println("stopped", err)
			return
		}
		fmt.Println("acked", n)
		if r.IntN(20) == 0 {
			if _, err := a.store.Compact(context.Background()); err != nil {
				fmt.Println("stopped", err)
				return
			}
		}
		if r.IntN(10) == 0 && a.keeper.State().Whole {
			m := a.remember(0)
			fmt.Println("moment", m.at.UnixMicro(), a.db.Committed(), strings.ReplaceAll(m.content, " ", "_"))
		}
		time.Sleep(time.Duration(r.IntN(4)) * time.Millisecond)
	}
}

// child is a running writer.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu      sync.Mutex // guards the fields below
	acked   int
	moments []seen
	said    string
}

// seen is what an archive had at a time.
type seen struct {
	at      time.Time
	number  uint64
	content string
}

func startChild(t *testing.T, dir, url string, env []string, from int, wait bool) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run", "^TestWriterOfTheCampaign$"), done: make(chan struct{}), acked: from - 1}
	c.cmd.Env = append(append(os.Environ(), env...), "VAULT_CHILD="+dir, "VAULT_URL="+url, fmt.Sprint("VAULT_FROM=", from),
		"VAULT_HOLDER="+dir)
	if wait {
		c.cmd.Env = append(c.cmd.Env, "VAULT_WAIT=1")
	}
	if os.Getenv("VAULT_TEST_LOG") != "" {
		c.cmd.Stderr = os.Stderr
	}
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	return c
}

func (c *child) read(out io.Reader) {
	defer close(c.done)
	for in := bufio.NewScanner(out); in.Scan(); {
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		c.mu.Lock()
		switch words[0] {
		case "acked":
			c.acked, _ = strconv.Atoi(words[1])
		case "moment":
			at, _ := strconv.ParseInt(words[1], 10, 64)
			number, _ := strconv.ParseUint(words[2], 10, 64)
			c.moments = append(c.moments, seen{time.UnixMicro(at), number, strings.ReplaceAll(words[3], "_", " ")})
		case "refused", "stopped":
			c.said = in.Text()
		}
		c.mu.Unlock()
	}
}

func (c *child) kill() (acked int, moments []seen, said string) {
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
	_ = c.cmd.Process.Kill()
	<-c.done
	_ = c.cmd.Wait() // "signal: killed"
	return c.acked, c.moments, c.said
}

// TestKilledWritersAndStores kills and stops a writer and its object store at random moments, $ROUNDS times, and
// restores the archive as it was at random moments. What was acknowledged by a writer that waits is restored after each
// round, from the bucket alone. $SEED repeats a run.
func TestKilledWritersAndStores(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	rounds, seed := 3, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = n
	}
	for _, wait := range []bool{true, false} {
		t.Run(fmt.Sprintf("wait=%v", wait), func(t *testing.T) {
			g := buckettest.StartGateway(t)
			t.Logf("ROUNDS=%d SEED=%d", rounds, seed)
			killRounds(t, g, rand.New(rand.NewPCG(seed, 7)), rounds, wait)
		})
	}
}

func killRounds(t *testing.T, g *buckettest.Gateway, r *rand.Rand, rounds int, wait bool) {
	dir := filepath.Join(t.TempDir(), "data")
	b := g.Open(bucket.Options{})
	var moments []seen
	next, exact, inexact := 0, 0, 0
	for round := range rounds {
		c := startChild(t, dir, g.URL, g.Environ(), next, wait)
		for range 1 + r.IntN(3) {
			time.Sleep(time.Duration(200+r.IntN(1500)) * time.Millisecond)
			switch r.IntN(5) {
			case 0:
				g.Kill()
				time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
				g.Start()
			case 1:
				g.Pause()
				time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
				g.Continue()
			case 2:
				_ = c.cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
				_ = c.cmd.Process.Signal(syscall.SIGCONT)
			}
		}
		acked, list, said := c.kill()
		if said != "" {
			t.Fatalf("round %d: the writer says: %s", round, said)
		}
		moments = append(moments, list...)
		next = acked + 1
		if wait && acked >= 0 {
			if h, err := Open(t.Context(), b); err == nil && len(h.Moments()) > 0 {
				a := restored(t, b, moment{time.Now(), "", -1})
				if n := a.check(); n < acked+1 {
					t.Errorf("round %d: %d files, %d were acknowledged", round, n, acked+1)
				}
				a.close()
			}
		}
	}
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := h.Verify(t.Context(), nil); err != nil || len(v.Faults) > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	r.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	for _, m := range moments[:min(len(moments), 4+2*rounds)] {
		target, err := h.At(t.Context(), m.at)
		if errors.Is(err, ErrNoMoment) {
			inexact++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if target.Number > m.number {
			t.Errorf("as of %s: write set %d, but only %d had been committed", m.at, target.Number, m.number)
		}
		want := moment{m.at, m.content, -1}
		if target.Number < m.number { // it was copied after a kill, when the time of its commit was no longer known
			want.content = ""
			inexact++
		} else {
			exact++
		}
		restored(t, b, want).close()
	}
	t.Logf("%d files, %d moments restored exactly, %d before a kill", next, exact, inexact)
	if exact == 0 && len(moments) > 3 {
		t.Error("no moment was restored exactly")
	}
}
