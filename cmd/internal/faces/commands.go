package faces

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Command is a command of the program that the server runs for clients, so that it does and prints the same beside a
// server as without one.
type Command struct {
	// Right is what a client needs; 0 for commands that only read, and read what is public.
	Right access.Right
	// Reads says that the command changes nothing, although it needs a right.
	Reads bool
	// Run runs the command and writes its output to the call. The result has no Error if the status is 0.
	Run func(ctx context.Context, call *Call) CommandResult
}

// Bounds of commands.
const (
	aliveEvery    = 10 * time.Second
	flushEvery    = 200 * time.Millisecond
	retryCommands = 10 * time.Second
	minID         = 22 // characters: guessing it must be hopeless
)

// commands answers POST /commands/{name} and DELETE /commands/{id}.
type commands struct {
	byName map[string]Command
	guard  *sparqlapi.Guard
	faces  *Faces

	places commandPlaces

	mu      sync.Mutex // guards running
	running map[string]context.CancelFunc
}

func newCommands(all map[string]Command, guard *sparqlapi.Guard, faces *Faces) *commands {
	return &commands{byName: all, guard: guard, faces: faces, places: newCommandPlaces(), running: map[string]context.CancelFunc{}}
}

// Run answers POST /commands/{name}: it runs a command for a client. Blanks in the name are hyphens. For the wire see
// commandwire.go.
func (c *commands) Run(w http.ResponseWriter, r *http.Request) error {
	name := target.Value(r, "name")
	command, ok := c.byName[name]
	if !ok {
		return problem.Newf(http.StatusNotFound, "No such command", "this server runs no command %q for clients", name)
	}
	need := func(right access.Right) error {
		changes := right&^access.Read != 0 && !command.Reads
		if c.faces.Replica != nil && changes && name != "backup" && name != "check" {
			return c.faces.refuseWrite(r)
		}
		var err error
		if right != 0 {
			err = c.guard.Check(r, right)
		}
		if err == nil && changes {
			err = operate.BeginAct(r.Context(), "")
		}
		return err
	}
	if err := need(command.Right); err != nil {
		w.Header().Set("Connection", "close") // or net/http would read the body before it answers
		return err
	}
	leave, longest, err := c.places.enter(r)
	if err != nil {
		w.Header().Set("Connection", "close")
		return err
	}
	defer leave()
	body := bufio.NewReaderSize(r.Body, maxFrame)
	order, err := readOrder(body, longest)
	if err != nil {
		return problem.Wrap(http.StatusBadRequest, "Not a command", err)
	}
	said := order
	said.ID = ""
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	operate.NoteAct(r.Context(), string(text))
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	if err := c.begin(order.ID, stop); err != nil {
		return err
	}
	defer c.end(order.ID)
	rc := http.NewResponseController(w)
	if err := rc.EnableFullDuplex(); err != nil { // the inputs are still arriving when the response begins
		return fmt.Errorf("command %s: %w", name, err)
	}
	// A command that is stopped may be waiting for bytes of a client that has no more.
	unwatch := context.AfterFunc(ctx, func() { _ = rc.SetReadDeadline(time.Now()) })
	defer unwatch()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // for nginx
	out := &commandOutput{frames: frameWriter{bufio.NewWriterSize(w, maxFrame+5)}, flush: rc.Flush, broken: stop}
	call := &Call{Order: order, Need: need, in: &inputs{frames: &frameReader{r: body}, names: order.Inputs}, out: out}
	call.in.finish()
	ended := out.keepAlive()
	result := c.run(ctx, name, command, call)
	ended()
	result.Stopped = ctx.Err() != nil && result.Status != 0
	if errors.Is(context.Cause(r.Context()), problem.ErrStopping) && result.Status != 0 {
		result = CommandResult{Status: 1, Error: "the server is stopping; finished work is kept"}
	}
	err = out.end(result)
	// A connection that closes on bytes that nobody reads is reset, and the result might be lost with it. The client
	// ends it once it has the result.
	_ = rc.SetReadDeadline(time.Now().Add(lastBytes))
	_, _ = io.Copy(io.Discard, body)
	return err
}

// lastBytes is how long a client that still sends inputs has to read the result of a command that has ended without
// them.
const lastBytes = 10 * time.Second

// run runs a command. A panic is this command's failure.
func (c *commands) run(ctx context.Context, name string, command Command, call *Call) (result CommandResult) {
	defer func() {
		if cause := recover(); cause != nil {
			c.faces.store.Log.Error("a command panicked", "command", name, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			result = CommandResult{Status: 1, Error: "internal error of the server; its log has the details"}
		}
	}()
	began := time.Now()
	result = command.Run(ctx, call)
	c.faces.store.Log.Info("command done", "command", name, "status", result.Status, "error", result.Error, "took",
		time.Since(began).Round(time.Millisecond))
	return result
}

// begin notes a command, so that Stop finds it, until end is called.
func (c *commands) begin(id string, stop context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.running[id]; taken {
		return problem.New(http.StatusConflict, "Not a new command", "a command with this id is running")
	}
	c.running[id] = stop
	return nil
}

func (c *commands) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, id)
}

// Stop answers DELETE /commands/{id}: it stops a command. Only who began it knows its id.
func (c *commands) Stop(w http.ResponseWriter, r *http.Request) error {
	c.mu.Lock()
	stop, ok := c.running[target.Value(r, "name")]
	c.mu.Unlock()
	if !ok {
		return problem.New(http.StatusNotFound, "No such command is running", "it may have ended")
	}
	stop()
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// readOrder reads the first line of a request, at most longest bytes.
func readOrder(body *bufio.Reader, longest int) (o CommandOrder, err error) {
	var line []byte
	for {
		part, err := body.ReadSlice('\n')
		if line = append(line, part...); err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > longest {
			return o, fmt.Errorf("expected a line of JSON of at most %d bytes: %w", longest, cmp.Or(noEOF(err), io.ErrUnexpectedEOF))
		}
	}
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&o); err != nil {
		return o, err
	}
	if len(o.ID) < minID || len(o.ID) > 4*minID {
		return o, fmt.Errorf("expected an id of %d to %d characters", minID, 4*minID)
	}
	return o, nil
}

// Call is a command that runs for a client.
type Call struct {
	Order CommandOrder
	// Need returns nil if the client has a right, and has the audit record that it is used. Commands call it whose
	// rights depend on what they are asked.
	Need func(access.Right) error

	in  *inputs
	out *commandOutput
}

// Open opens the next input, which must have this name. The inputs must be opened in the order of Order.Inputs.
func (c *Call) Open(name string) (io.ReadCloser, error) { return c.in.Open(name) }

// Stdout is the client's standard output.
func (c *Call) Stdout() io.Writer { return stream{c.out, frameStdout} }

// Stderr is the client's standard error.
func (c *Call) Stderr() io.Writer { return stream{c.out, frameStderr} }

// File is the file of --output on the client's side.
func (c *Call) File() io.Writer { return stream{c.out, frameFile} }

// Progress tells the client how far the command is. What comes too fast is left out.
func (c *Call) Progress(p CommandProgress) { c.out.progress(p) }

// stream writes frames of one kind.
type stream struct {
	out  *commandOutput
	kind byte
}

func (s stream) Write(p []byte) (int, error) {
	if err := s.out.write(s.kind, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// commandOutput is the response of a command. Its methods may be called by several goroutines.
type commandOutput struct {
	flush  func() error
	broken func() // is called when the client has left

	mu     sync.Mutex // guards the fields below
	frames frameWriter
	err    error     // of writing; nothing follows
	dirty  bool      // something is not flushed
	last   time.Time // of the latest frame
	shown  time.Time // of the latest progress
}

func (o *commandOutput) write(kind byte, payload []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keep(o.frames.write(kind, payload))
}

// keep notes that frames were written, or that they could not be. The caller holds o.mu.
func (o *commandOutput) keep(err error) error {
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("the client has left: %w", err)
		o.broken()
	}
	o.dirty, o.last = true, time.Now()
	return o.err
}

func (o *commandOutput) progress(p CommandProgress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); o.err == nil && now.Sub(o.shown) >= progressEvery {
		o.shown = now
		_ = o.keep(o.frames.writeJSON(frameProgress, p)) // the next write returns the error
	}
}

// keepAlive flushes what is written, and writes something if nothing else is, until the returned function is called. So
// the client sees a server that has died, and the server a client that has.
func (o *commandOutput) keepAlive() (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	o.mu.Lock()
	_ = o.keep(o.frames.write(frameAlive, nil)) // the response begins: the client reads it while it sends
	_ = o.keep(o.flushNow())
	o.mu.Unlock()
	go func() {
		defer close(ended)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			o.mu.Lock()
			if o.err == nil && time.Since(o.last) >= aliveEvery {
				_ = o.keep(o.frames.write(frameAlive, nil))
			}
			if o.err == nil && o.dirty {
				_ = o.keep(o.flushNow())
				o.dirty = false
			}
			o.mu.Unlock()
		}
	}()
	return func() { close(stop); <-ended }
}

// flushNow sends what is buffered. The caller holds o.mu.
func (o *commandOutput) flushNow() error { return errors.Join(o.frames.w.Flush(), o.flush()) }

// end writes the result. If that fails, it panics to break the response off.
func (o *commandOutput) end(r CommandResult) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_ = o.keep(errors.Join(o.frames.writeJSON(frameResult, r), o.flushNow()))
	}
	if o.err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}
