package apart

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Argument {
		os.Exit(Serve(testOps()))
	}
	os.Exit(m.Run())
}

const testMemory = 96 << 20

// testOps are what the children of these tests do.
func testOps() map[string]Op {
	var held [][]byte
	return map[string]Op{
		"echo": func(j *Job) ([]byte, error) {
			all := append([]byte{}, j.Args...)
			for _, b := range j.Bodies {
				text, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
				if err != nil {
					return nil, err
				}
				all = append(all, text...)
			}
			return all, nil
		},
		"sum": func(j *Job) ([]byte, error) {
			sum := 0
			for _, b := range j.Bodies {
				text, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
				if err != nil {
					return nil, err
				}
				for _, c := range text {
					sum += int(c)
				}
			}
			return []byte(strconv.Itoa(sum)), nil
		},
		"count": func(j *Job) ([]byte, error) {
			n, _ := strconv.Atoi(string(j.Args))
			for i := range n {
				if err := j.Emit(fmt.Appendf(nil, "%d\n", i)); err != nil {
					return nil, err
				}
			}
			return []byte("done"), nil
		},
		"pid": func(*Job) ([]byte, error) { return []byte(strconv.Itoa(os.Getpid())), nil },
		"ask": func(j *Job) ([]byte, error) { return append(j.Ask([]byte("what?")), '.'), nil },
		"fail": func(*Job) ([]byte, error) {
			return nil, errors.New("it\x1b[2J is\nnot \u202eready\xff" + strings.Repeat("é", 1000))
		},
		"temp": func(j *Job) ([]byte, error) {
			f, done, err := j.Temp()
			if err != nil {
				return nil, err
			}
			defer done()
			old, err := io.ReadAll(f)
			if err == nil {
				_, err = f.WriteString("something")
			}
			return append(old, "."...), err
		},
		"panic": func(*Job) ([]byte, error) { panic("index out of range") },
		"fatal": func(*Job) ([]byte, error) {
			var f func(int) int
			f = func(n int) int { return f(n+1) + 1 }
			return nil, fmt.Errorf("%d", f(0))
		},
		"huge": func(*Job) ([]byte, error) {
			n := uint64(34 << 30)
			held = append(held, make([]byte, n))
			return nil, nil
		},
		"grow": func(*Job) ([]byte, error) {
			for {
				b := make([]byte, 1<<20)
				for i := range b {
					b[i] = 1
				}
				held = append(held, b)
			}
		},
		"spin": func(*Job) ([]byte, error) {
			for n := 0; ; n++ {
				if n < 0 {
					return nil, nil
				}
			}
		},
		"hang":   func(*Job) ([]byte, error) { select {} },
		"raw":    func(j *Job) ([]byte, error) { _, _ = output().Write(j.Args); select {} },
		"attack": attack,
	}
}

func testPool(t testing.TB, lanes ...int) *Pool {
	t.Helper()
	if lanes == nil {
		lanes = []int{2}
	}
	p, err := New(Options{Memory: testMemory, Lanes: lanes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func text(s string) Body { return Body{Size: int64(len(s)), R: strings.NewReader(s)} }

func do(t testing.TB, p *Pool, task Task, bodies ...Body) ([]byte, error) {
	t.Helper()
	d, err := p.Open(t.Context(), 0, 0, bodies...)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if task.Time == 0 {
		task.Time = time.Minute
	}
	return d.Do(t.Context(), task)
}

// works fails the test unless the pool does another job.
func works(t testing.TB, p *Pool) {
	t.Helper()
	if answer, err := do(t, p, Task{Op: "echo", Args: []byte("x")}, text("yz")); err != nil || string(answer) != "xyz" {
		t.Errorf("the next job: %q, %v", answer, err)
	}
}

func TestABodyComesWithTheRequestAsAFileOrInBlocks(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	long := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16+1)
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(long); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, c := range long {
		sum += int(c)
	}
	size := int64(len(long))
	for name, bodies := range map[string][]Body{
		"none": nil, "short": {text("abc")}, "two": {text("abc"), text("")}, "file": {{size, file}}, "blocks": {{size,
			bytes.NewReader(long)}},
		"all": {text("abc"), {size, file}, {size, bytes.NewReader(long)}},
	} {
		want := 0
		for _, b := range bodies {
			if want += sum; b.Size < 10 {
				want -= sum - int(b.Size)*'b'
			}
		}
		answer, err := do(t, p, Task{Op: "sum"}, bodies...)
		if err != nil || string(answer) != strconv.Itoa(want) {
			t.Errorf("%s: %q, %v, want %d", name, answer, err, want)
		}
	}
	if got := p.Stats(); got.Died != 0 {
		t.Errorf("%+v", got)
	}
}

func TestADocumentIsSentOnce(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	reads := 0
	body := counted{strings.NewReader("abc"), &reads}
	d, err := p.Open(t.Context(), 0, 0, Body{3, body})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		if answer, err := d.Do(t.Context(), Task{Op: "echo", Time: time.Minute}); err != nil || string(answer) != "abc" {
			t.Errorf("%q, %v", answer, err)
		}
	}
	d.Add(text("def"))
	if answer, err := d.Do(t.Context(), Task{Op: "echo", Time: time.Minute}); err != nil || string(answer) != "abcdef" {
		t.Errorf("with another: %q, %v", answer, err)
	}
	if reads != 1 {
		t.Errorf("it was read %d times", reads)
	}
}

type counted struct {
	io.ReaderAt
	n *int
}

func (c counted) ReadAt(p []byte, at int64) (int, error) { *c.n++; return c.ReaderAt.ReadAt(p, at) }

func TestRowsStreamAndStopWithoutEndingTheChild(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	lines := 0
	answer, err := do(t, p, Task{Op: "count", Args: []byte("5000"), Part: func(b []byte) error {
		lines += bytes.Count(b,
			[]byte("\n"))
		return nil
	}})
	if err != nil || string(answer) != "done" || lines != 5000 {
		t.Errorf("%d lines, %q, %v", lines, answer, err)
	}
	enough := errors.New("enough")
	for range 20 {
		parts := 0
		_, err = do(t, p, Task{Op: "count", Args: []byte("1000000000"), Part: func([]byte) error {
			if parts++; parts == 3 {
				return enough
			}
			return nil
		}})
		if err != enough || parts != 3 {
			t.Errorf("%d parts, %v", parts, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, _ := p.Open(ctx, 0, 0)
	_, err = d.Do(ctx, Task{Op: "count", Args: []byte("1000000000"), Time: time.Minute, Part: func([]byte) error { cancel(); return nil }})
	d.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the client has gone: %v", err)
	}
	works(t, p)
	if got := p.Stats(); got.Started != 1 || got.Died != 0 {
		t.Errorf("one child is enough: %+v", got)
	}
}

func TestAChildAsksAndHasTemporaryFiles(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	answer, err := do(t, p, Task{Op: "ask", Reply: func(q []byte) ([]byte, error) { return append(q, " this"...), nil }})
	if err != nil || string(answer) != "what? this." {
		t.Errorf("%q, %v", answer, err)
	}
	for range 2 * maxTemp {
		if answer, err := do(t, p, Task{Op: "temp"}); err != nil || string(answer) != "." {
			t.Errorf("a temporary file begins with %q, %v", answer, err)
		}
	}
	if p.Stats().Started != 1 {
		t.Error("the child was not used again")
	}
}

func TestAnOperationsErrorIsACleanSentence(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	_, err := do(t, p, Task{Op: "fail"})
	var failure *Failure
	if !errors.As(err, &failure) || len(err.Error()) > maxText || !strings.HasPrefix(err.Error(), "it[2J is not ready\ufffdé") {
		t.Errorf("%q", err)
	}
	_, err = do(t, p, Task{Op: "panic"})
	if !errors.As(err, &failure) || !failure.Panic || !strings.Contains(failure.Stack, "apart") ||
		err.Error() != "a fault of this program: panic: index out of range" {
		t.Errorf("%v, %+v", err, failure)
	}
	works(t, p)
	if got := p.Stats().Started; got != 2 {
		t.Errorf("after a panic another child works: %d were started", got)
	}
}

func TestWhatADocumentDoesEndsTheChildAloneAndHasASentence(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	memory := "examining it took more than 96 MiB of memory"
	for op, want := range map[string]string{
		"huge": memory, "grow": memory, "spin": "examining it took more than 4 s of processor time",
		"fatal": "examining it",
	} {
		if testing.Short() && op == "spin" || underRace && op != "grow" {
			continue
		}
		_, err := do(t, p, Task{Op: op, Time: time.Second})
		var death *Death
		if !errors.As(err, &death) || !death.Blame || !strings.HasPrefix(err.Error(), want) || errors.Is(err, ErrOurs) {
			t.Errorf("%s: %v", op, err)
			if death != nil {
				t.Log(death.Last)
			}
		}
		works(t, p)
	}
}

func TestAClientThatLeavesEndsAChildThatComputes(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	d, err := p.Open(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = d.Do(ctx, Task{Op: "hang", Time: time.Hour})
	d.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	works(t, p)
}

func TestAChildThatLiesIsEnded(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	frame := func(kind byte, payload string) string {
		b := make([]byte, frameHead)
		putHead(b, kind, len(payload))
		return string(b) + payload
	}
	number := func(body byte, at uint64, n uint32) string {
		return string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64([]byte{body}, at), n))
	}
	long := make([]byte, frameHead)
	putHead(long, frameAnswer, maxFrame+1)
	for name, lie := range map[string]string{
		"an unknown frame": frame('Z', "x"), "a frame of the server": frame(frameBlock, "x"), "a second greeting": frame(frameHello, "x"),
		"a frame that is too long": string(long), "bytes of another body": frame(frameRead, number(1, 0, 1)),
		"bytes before the body": frame(frameRead, number(0, 1<<63, 1)), "bytes behind the body": frame(frameRead, number(0, 3, 1)),
		"too many bytes": frame(frameRead, number(0, 0, blockSize+1)), "half a question for bytes": frame(frameRead, "x"),
		"a part of no stream": frame(framePart, "x"), "a question": frame(frameQuestion,
			"x"), "an answer without a head": frame(frameAnswer, ""),
		"a failure that is none": frame(frameFailure, "\x00{"), "nonsense": "\x00\xff\xff\xff\xff\xff",
	} {
		_, err := do(t, p, Task{Op: "raw", Args: []byte(lie)}, text("abc"))
		var death *Death
		if !errors.As(err, &death) || !death.Blame {
			t.Errorf("%s: %v", name, err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		lie := make([]byte, 1+random.IntN(40))
		for i := range lie {
			lie[i] = byte(random.UintN(256))
		}
		if _, err := do(t, p, Task{Op: "raw", Args: append([]byte{frameHead, 0, 0, 0, 0}, lie...)}, text("abc")); err == nil {
			t.Errorf("seed %d: %q was taken for an answer", seed, lie)
		}
	}
	works(t, p)
}

// TestChildrenThatOthersKillLoseNothing kills children at random moments of their jobs, and between them.
func TestChildrenThatOthersKillLoseNothing(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	seed := uint64(time.Now().UnixNano())
	var killed, lost atomic.Int32
	var workers sync.WaitGroup
	for worker := range uint64(2) {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			for i := range 150 {
				d, err := p.Open(t.Context(), 0, 0)
				if err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprintf("%d %d.", worker, i)
				answer, err := d.Do(t.Context(), Task{Op: "ask", Time: time.Minute, Reply: func([]byte) ([]byte, error) {
					if victim := d.c.cmd.Process; random.IntN(3) == 0 {
						killed.Add(1)
						time.AfterFunc(time.Duration(random.IntN(300))*time.Microsecond, func() { _ = victim.Kill() })
					}
					return []byte(strings.TrimSuffix(want, ".")), nil
				}})
				d.Close()
				switch {
				case errors.Is(err, ErrOurs): // three kills in a row
					lost.Add(1)
				case err != nil || string(answer) != want:
					t.Errorf("seed %d: %q, %v, want %q", seed, answer, err, want)
				}
			}
		})
	}
	workers.Wait()
	if killed.Load() < 50 || lost.Load() > 60 {
		t.Errorf("seed %d: %d children were killed, %d jobs given back", seed, killed.Load(), lost.Load())
	}
	works(t, p)
}

func TestAJobWhoseChildrenOthersEndIsGivenBack(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	d, err := p.Open(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ended := 0
	_, err = d.Do(t.Context(), Task{Op: "ask", Time: time.Minute, Reply: func([]byte) ([]byte, error) {
		ended++
		_ = d.c.cmd.Process.Kill()
		return []byte("x"), nil
	}})
	if ended != maxTries || !errors.Is(err, ErrOurs) {
		t.Errorf("after %d kills: %v", ended, err)
	}
	parts := 0
	_, err = d.Do(t.Context(), Task{Op: "count", Args: []byte("1000000000"), Time: time.Minute, Part: func([]byte) error {
		if parts++; parts == 2 {
			_ = d.c.cmd.Process.Kill()
		}
		return nil
	}})
	if !errors.Is(err, ErrOurs) || p.Stats().Died != maxTries+1 {
		t.Errorf("what was passed on is not passed on again: %v, %+v", err, p.Stats())
	}
}

func TestADamagedBodyIsTheServersError(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	bad := errors.New("the disk has lost it")
	body := Body{Size: 1 << 20, R: failing{bad}}
	if _, err := do(t, p, Task{Op: "sum"}, body); !errors.Is(err, bad) {
		t.Errorf("in blocks: %v", err)
	}
	if _, err := do(t, p, Task{Op: "sum"}, Body{Size: 3, R: failing{bad}}); !errors.Is(err, bad) {
		t.Errorf("short: %v", err)
	}
	works(t, p)
}

type failing struct{ err error }

func (f failing) ReadAt(p []byte, _ int64) (int, error) { return iotest.ErrReader(f.err).Read(p) }

func TestLanesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	p := testPool(t, 1, 1)
	d, err := p.Open(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := p.Open(t.Context(), 0, time.Millisecond); !errors.Is(err, ErrBusy) {
		t.Errorf("the lane is full: %v", err)
	}
	other, err := p.Open(t.Context(), 1, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	other.Close()
}

func TestAProgramThatDoesNotStartIsOurTrouble(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/program"
	if err := os.WriteFile(name, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{Program: name, Lanes: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 2 {
		if _, err := do(t, p, Task{Op: "echo"}); !errors.Is(err, ErrOurs) {
			t.Errorf("%v", err)
		}
	}
	if p.Stats().Failures != 2 {
		t.Errorf("%+v", p.Stats())
	}
}

func TestClosingThePoolEndsItsChildren(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	works(t, p)
	d, err := p.Open(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for p.Stats().Started == 0 {
			runtime.Gosched()
		}
		p.Close()
	}()
	if runtime.GOOS == "linux" {
		if _, err := d.Do(t.Context(), Task{Op: "hang", Time: time.Hour}); !errors.Is(err, ErrOurs) {
			t.Errorf("a job under way: %v", err)
		}
	}
	d.Close()
	if d, err := p.Open(t.Context(), 0, 0); err == nil {
		defer d.Close()
		if _, err := d.Do(t.Context(), Task{Op: "echo", Time: time.Minute}); !errors.Is(err, ErrOurs) {
			t.Errorf("a closed pool: %v", err)
		}
	}
}
