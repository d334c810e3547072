package apart

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Job is a job as an operation gets it in a child.
type Job struct {
	Context context.Context // ends after Task.Time
	Args    []byte
	Bodies  []*Bytes

	c *child
}

// Op does jobs. Its answer has at most maxFrame bytes.
type Op func(*Job) ([]byte, error)

// ErrStopped is the error of Emit when the server wants no more of an answer. The operation should end.
var ErrStopped = errors.New("no more is wanted")

// Failing is an error with what a Failure has.
type Failing interface {
	error
	Failure() Failure
}

// What a child ends with.
const (
	exitDone     = 0
	exitPanic    = 1
	exitMemory   = 3
	exitTime     = 4
	exitProtocol = 5
	exitUnsafe   = 6 // a limit that the system knows could not be set
)

// Variables of a child's environment.
const (
	envMemory = "ODARCHIVE_EXAMINE_MEMORY" // bytes; 0 for no limits of the kernel, and the default for the child's own watch
	envLimits = "ODARCHIVE_EXAMINE_LIMITS" // "off": no limits of the kernel
)

// child is the state of a child. One goroutine reads, works and writes: a second one would cost a change of threads for
// each frame.
type child struct {
	in    *bufio.Reader
	came  *descriptors
	out   io.Writer
	ops   map[string]Op
	limit uint64
	jobs  int

	ticks   *time.Timer
	ticking atomic.Bool
	began   atomic.Int64 // when the job under way began, or, negative, the last one ended; nanoseconds since 1970

	turn    sync.Mutex // guards the rest and what is sent; for readers with goroutines of their own
	owed    int        // parts that the server has not spoken of
	stopped bool
	parts   int
	bodies  []*Bytes
	spare   []*os.File // temporary files without a name
	free    []*os.File
}

// Serve is the whole life of a child: it confines itself, and does jobs until standard input ends. It returns the exit
// status.
func Serve(ops map[string]Op) int {
	if !isChild() {
		fmt.Fprintln(os.Stderr, "odarchive examine: the program starts this by itself, to examine files in processes of their own")
		return 2
	}
	limit, _ := strconv.ParseInt(os.Getenv(envMemory), 10, 64)
	if limit <= 0 {
		limit = DefaultMemory
	}
	debug.SetMemoryLimit(limit * 6 / 10)
	debug.SetGCPercent(200)
	debug.SetTraceback("single")
	runtime.GOMAXPROCS(min(2, runtime.GOMAXPROCS(0))) // one works, the other collects garbage and watches
	_, _ = time.Now().Zone()                          // reads the system's zone, while files can be opened
	in, came := input()
	c := &child{in: bufio.NewReaderSize(in, 64<<10), came: came, out: output(), ops: ops, limit: uint64(limit)}
	c.makeSpare()
	endOnSignals()
	said, err := confine(limit, os.Getenv(envLimits) != "off")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnsafe
	}
	os.Clearenv()
	if err := writeFrame(c.out, frameHello, []byte(said)); err != nil {
		return exitProtocol
	}
	return c.serve()
}

func (c *child) serve() int {
	c.began.Store(0)
	c.ticks = time.AfterFunc(time.Hour, c.tick)
	for {
		for ; c.owed > 0; c.owed-- { // words about parts of the last answer
			if kind, _, err := readFrame(c.in, 0); err != nil || kind != frameMore && kind != frameStop {
				return exitDone
			}
		}
		kind, payload, err := readFrame(c.in, maxFrame)
		if err != nil || kind != frameRequest {
			return exitDone
		}
		c.began.Store(time.Now().UnixNano())
		if c.ticking.CompareAndSwap(false, true) {
			c.ticks.Reset(watchEvery)
		}
		ends := c.do(payload)
		c.began.Store(-time.Now().UnixNano())
		if ends {
			return exitDone
		}
	}
}

// watchEvery is how often a child that works compares its memory with its limit: some systems have no such limit, and
// the others count less. A second after its last job it gives memory back, and stops ticking: a timer that is set for
// each job would cost more than a short job does.
const watchEvery = 100 * time.Millisecond

func (c *child) tick() {
	switch began := c.began.Load(); {
	case began > 0:
		if inUse() > c.limit {
			os.Exit(exitMemory)
		}
	case time.Now().UnixNano()+began > int64(time.Second):
		debug.FreeOSMemory()
		c.ticking.Store(false)
		if c.began.Load() < 0 || !c.ticking.CompareAndSwap(false, true) {
			return
		}
	}
	c.ticks.Reset(watchEvery)
}

// inUse returns the bytes that the runtime has from the system.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// do does the job of a request and sends its answer. It reports whether the child must end: after a panic, whose state
// nobody knows, and if it holds much memory.
func (c *child) do(payload []byte) (ends bool) {
	job, r, err := c.job(payload)
	if err != nil {
		fmt.Fprintln(os.Stderr, "request:", err)
		os.Exit(exitProtocol)
	}
	limitProcessorTime(time.Duration(r.CPU) * time.Second)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Seconds)*time.Second)
	defer cancel()
	job.Context = ctx
	answer, fault := c.run(r.Op, job)
	kind := byte(frameAnswer)
	if fault == nil && len(answer) > maxFrame-1 {
		fault = &Failure{Text: fmt.Sprintf("the answer is longer than %s", size(maxFrame))}
	}
	if fault != nil {
		kind, ends = frameFailure, fault.Panic
		if answer, err = json.Marshal(fault); err != nil {
			os.Exit(exitProtocol)
		}
	}
	if c.jobs++; c.jobs%16 == 0 || time.Since(began) > 20*time.Millisecond { // asking for each short job would cost more than it
		ends = ends || inUse() > c.limit/4
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	flag := []byte{0}
	if ends {
		flag[0] = 1
	}
	if writeFrame(c.out, kind, flag, answer) != nil {
		os.Exit(exitDone)
	}
	return ends
}

func (c *child) run(name string, job *Job) (answer []byte, fault *Failure) {
	defer func() {
		if v := recover(); v != nil {
			fault = &Failure{Text: fmt.Sprintf("a fault of this program: panic: %.300v", v), Panic: true,
				Stack: string(debug.Stack()[:min(len(debug.Stack()), 8<<10)])}
		}
	}()
	op := c.ops[name]
	if op == nil {
		return nil, &Failure{Text: "there is no operation " + strconv.Quote(name)}
	}
	answer, err := op(job)
	if err == nil {
		return answer, nil
	}
	f := Failure{}
	if known, ok := errors.AsType[Failing](err); ok {
		f = known.Failure()
	}
	f.Text = Clean(err.Error(), maxText)
	return nil, &f
}

// job reads a request.
func (c *child) job(payload []byte) (*Job, request, error) {
	var r request
	n, used := binary.Uvarint(payload)
	if used <= 0 || n > uint64(len(payload)-used) {
		return nil, r, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(payload[used:used+int(n)], &r); err != nil {
		return nil, r, err
	}
	rest := payload[used+int(n):]
	if r.Args < 0 || r.Args > len(rest) {
		return nil, r, io.ErrUnexpectedEOF
	}
	args := rest[:r.Args:r.Args]
	rest = rest[r.Args:]
	before := c.bodies
	c.bodies, c.stopped, c.parts = nil, false, 0
	for i, h := range r.Bodies {
		switch h.How {
		case bodySame:
			if i >= len(before) {
				return nil, r, fmt.Errorf("there was no body %d", i)
			}
			c.bodies = append(c.bodies, before[i])
			before[i] = nil
			continue
		case bodyInline:
			if h.Size < 0 || h.Size > int64(len(rest)) {
				return nil, r, io.ErrUnexpectedEOF
			}
			c.bodies = append(c.bodies, &Bytes{size: h.Size, held: rest[:h.Size:h.Size]})
			rest = rest[h.Size:]
		case bodyFile:
			file, ok := c.came.next()
			if !ok {
				return nil, r, errors.New("a descriptor is missing")
			}
			c.bodies = append(c.bodies, &Bytes{size: h.Size, file: file, isFile: true})
		default:
			c.bodies = append(c.bodies, &Bytes{size: h.Size, c: c, number: byte(i)})
		}
	}
	for _, b := range before {
		b.close()
	}
	c.free = append(c.free[:0], c.spare...)
	return &Job{Args: args, Bodies: c.bodies, c: c}, r, nil
}

// Emit sends a part of an answer. At most window parts are under way; then the server says whether it wants more, or
// Emit returns ErrStopped.
func (j *Job) Emit(b []byte) error {
	c := j.c
	c.turn.Lock()
	defer c.turn.Unlock()
	for len(b) > 0 {
		if c.stopped {
			return ErrStopped
		}
		n := min(len(b), maxPart)
		if err := writeFrame(c.out, framePart, b[:n]); err != nil {
			os.Exit(exitDone)
		}
		b = b[n:]
		for c.owed++; c.owed >= window; {
			c.word(0)
		}
	}
	if c.stopped {
		return ErrStopped
	}
	return nil
}

// word reads a frame from the server. If it is not about a part, it returns its kind and bytes.
func (c *child) word(max int) (kind byte, payload []byte) {
	kind, payload, err := readFrame(c.in, max)
	switch {
	case err != nil:
		os.Exit(exitDone)
	case kind == frameMore || kind == frameStop:
		c.owed--
		c.stopped = c.stopped || kind == frameStop
		return 0, nil
	}
	return kind, payload
}

// exchange sends a frame and returns the server's answer of a kind.
func (c *child) exchange(kind byte, question []byte, want byte) []byte {
	c.turn.Lock()
	defer c.turn.Unlock()
	if writeFrame(c.out, kind, question) != nil {
		os.Exit(exitDone)
	}
	for {
		switch kind, payload := c.word(maxFrame); kind {
		case want:
			return payload
		case 0:
		default:
			os.Exit(exitProtocol)
		}
	}
}

// Ask asks the server a question of the operation. The answer is empty if the server has none.
func (j *Job) Ask(question []byte) []byte { return j.c.exchange(frameQuestion, question, frameReply) }

// Temp returns an empty temporary file without a name, and a function that gives it back.
func (j *Job) Temp() (f *os.File, done func(), err error) {
	c := j.c
	c.turn.Lock()
	defer c.turn.Unlock()
	if len(c.free) == 0 {
		return nil, nil, errors.New("no temporary file is left")
	}
	last := len(c.free) - 1
	f = c.free[last]
	c.free = c.free[:last]
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = f.Truncate(0)
	}
	return f, func() {
		c.turn.Lock()
		defer c.turn.Unlock()
		_ = f.Truncate(0) // gives the space back; Temp truncates again
		c.free = append(c.free, f)
	}, err
}

// maxTemp is how many temporary files a job may have: inner archives of two levels, of a file and of one beside it, and
// one more.
const maxTemp = 5

// makeSpare makes temporary files while files can be made. Without them, what needs one fails with its error.
func (c *child) makeSpare() {
	for range maxTemp {
		f, err := os.CreateTemp("", "odarchive-examine-*")
		if err != nil {
			return
		}
		_ = os.Remove(f.Name()) // some systems keep the name until the file is closed
		c.spare = append(c.spare, f)
	}
}

const maxText = 300

// Clean returns a text in one line of at most n bytes of UTF-8 without control characters.
func Clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), 4*n)], "\ufffd"))
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
