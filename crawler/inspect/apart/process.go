package apart

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// process is a child as the server has it. One goroutine uses it at a time; kill may be called by others.
type process struct {
	cmd     *exec.Cmd
	line    *line
	in      *bufio.Reader
	said    string // what the system did not grant
	last    tail
	release func()

	jobs    int
	killed  atomic.Bool // by the server
	ended   bool
	expires *time.Timer // while it is idle
}

// startTime is how long a child may take until its first frame.
const startTime = time.Minute

// start starts a child, on the calling thread.
func start(o Options, program *os.File) (p *process, err error) {
	server, theirs, err := newLine()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(executable(program))
	cmd.Args = []string{o.Name, Argument}
	cmd.Env = append([]string{envMemory + "=" + strconv.FormatInt(o.Memory, 10)}, o.env()...)
	p = &process{cmd: cmd, line: server, in: bufio.NewReaderSize(server, 64<<10)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], &p.last
	p.release, err = startFrom(cmd)
	for i, f := range theirs {
		if i == 0 || f != theirs[0] {
			f.Close()
		}
	}
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return p, nil
}

// env returns the variables of a child, which are all that it has.
func (o Options) env() []string {
	var env []string
	if o.Unlimited {
		env = append(env, envLimits+"=off")
	}
	// For temporary files, and for the time zone of dates that have none.
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "TZ", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, o.Env...)
}

// greet waits for the first frame of a child.
func (p *process) greet() error {
	late := time.AfterFunc(startTime, p.kill)
	defer late.Stop()
	kind, payload, err := readFrame(p.in, 4<<10)
	if err == nil && kind != frameHello {
		err = fmt.Errorf("its first frame is %q", kind)
	}
	if err == nil {
		p.said = Clean(string(payload), maxText)
		return nil
	}
	p.end()
	if text := Clean(p.last.String(), maxText); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("it ended with %v before it said anything: %w", p.cmd.ProcessState, err)
}

// kill ends the child, whatever it does.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill()
}

// end waits for the end of a child that has ended, or that must: after a second it is killed.
func (p *process) end() {
	if p.ended {
		return
	}
	p.ended = true
	p.line.Close()
	late := time.AfterFunc(time.Second, p.kill)
	_ = p.cmd.Wait() // its state says what there is to say
	late.Stop()
	p.release()
}

// send writes a frame of several pieces, the first of which begins with room for its head.
func (p *process) send(kind byte, pieces net.Buffers, files []*os.File) error {
	n := -frameHead
	for _, b := range pieces {
		n += len(b)
	}
	putHead(pieces[0], kind, n)
	return p.line.send(pieces, files)
}

// tail keeps the first bytes that are written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[:min(len(p), maxTail-len(t.b))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
