package faces

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Terminal is the client's side of a command that a server runs.
type Terminal struct {
	Stdout, Stderr io.Writer
	File           io.Writer // of --output
	Progress       func(CommandProgress)
	Open           func(name string) (io.ReadCloser, error) // opens an input

	said func() bool // is called when the command says something; may be nil
}

// patience is how long a client that was interrupted waits for the end of the command that it has stopped.
const patience = 15 * time.Second

// ErrNotServed is the error of a command that the server does not know.
var ErrNotServed = errors.New("the server does not know this command for clients: it is another version of odarchive than this program")

// errBroken is the error of a response without an end.
var errBroken = errors.New(
	"the server broke off before the command ended; what it has finished is kept, and nothing is kept by halves: run the command again")

// RunCommand makes the server run a command, and passes what it prints to t. When ctx ends, it stops the command, and
// waits for its end for a while: the result is that of the server. An error means that the result is not known.
func (r *Remote) RunCommand(ctx context.Context, name string, o CommandOrder, t Terminal) (CommandResult, error) {
	o.ID = rand.Text()
	line, err := json.Marshal(o)
	if err != nil {
		return CommandResult{}, err
	}
	if err := ctx.Err(); err != nil {
		return CommandResult{}, err
	}
	talk, hangUp := context.WithCancel(context.WithoutCancel(ctx)) // outlives ctx, to hear what has become of the command
	defer hangUp()
	line = append(line, '\n')
	var body io.Reader = bytes.NewReader(line)
	if len(o.Inputs) > 0 {
		all, send := io.Pipe()
		defer all.Close() // ends the goroutine, unless it waits for standard input: then the end of the process does
		go func() { send.CloseWithError(sendInputs(send, line, o.Inputs, t.Open)) }()
		body = all
	}
	path := "/api/v1/commands/" + url.PathEscape(strings.ReplaceAll(name, " ", "-"))
	stopWatching := context.AfterFunc(ctx, func() {
		time.AfterFunc(patience, hangUp)
		stopping, cancel := context.WithTimeout(talk, patience)
		defer cancel()
		if resp, err := r.Send(stopping, http.MethodDelete, "/api/v1/commands/"+o.ID, ""); err == nil {
			resp.Body.Close()
		}
	})
	defer stopWatching()
	if r.Slow != nil {
		t.said = time.AfterFunc(slowAfter, r.Slow).Stop
		defer t.said()
	}
	in, err := r.stream(talk, path, body)
	if err == nil {
		defer in.Close()
		var result CommandResult
		if result, err = t.follow(in); err == nil {
			return result, nil
		}
	}
	if ctx.Err() != nil && talk.Err() != nil {
		err = fmt.Errorf(
			"stopped waiting for the server, which may still be at it; what it has finished is kept, and nothing is kept by halves")
	}
	return CommandResult{}, err
}

// stream posts a body of unknown length and returns that of the response.
func (r *Remote) stream(ctx context.Context, path string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%q: expected an address such as http://localhost:8080/: %w", r.base, err)
	}
	req.Header.Set("Expect", "100-continue") // see refusalWait
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Accept", "application/octet-stream, application/json;q=0.5")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode == http.StatusNotFound {
		return nil, ErrNotServed // every 404 of this route means that
	}
	return nil, errors.Join(r.refusal(resp, raw), err)
}

// follow passes the frames of a response on until its end.
func (t Terminal) follow(in io.Reader) (result CommandResult, err error) {
	frames := frameReader{r: bufio.NewReaderSize(in, maxFrame)}
	for {
		kind, payload, err := frames.next()
		if err != nil {
			if errors.Is(err, errFrame) {
				return result, err
			}
			return result, errBroken
		}
		if kind != frameAlive && t.said != nil {
			t.said()
		}
		switch kind {
		case frameStdout:
			_, err = t.Stdout.Write(payload)
		case frameStderr:
			_, err = t.Stderr.Write(payload)
		case frameFile:
			_, err = t.File.Write(payload)
		case frameProgress:
			var p CommandProgress
			if err = json.Unmarshal(payload, &p); err == nil {
				t.Progress(p)
			}
		case frameResult:
			err = json.Unmarshal(payload, &result)
			return result, err
		}
		if err != nil {
			return result, err
		}
	}
}

// sendInputs writes the first line of a request, and the inputs.
func sendInputs(w io.Writer, line []byte, names []string, open func(string) (io.ReadCloser, error)) error {
	if _, err := w.Write(line); err != nil {
		return err
	}
	frames := frameWriter{bufio.NewWriterSize(w, maxFrame+5)}
	buf := make([]byte, maxFrame)
	for _, name := range names {
		if err := sendInput(frames, name, buf, open); err != nil {
			return err
		}
	}
	return frames.w.Flush()
}

// sendInput writes one input. It flushes after each read, since what comes in slowly must not wait.
func sendInput(frames frameWriter, name string, buf []byte, open func(string) (io.ReadCloser, error)) error {
	in, err := open(name)
	if err != nil {
		return frames.write(frameBroken, []byte(err.Error()))
	}
	defer in.Close()
	if err := frames.write(frameBegin, nil); err != nil {
		return err
	}
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := errors.Join(frames.write(frameData, buf[:n]), frames.w.Flush()); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return frames.write(frameEnd, nil)
		case err != nil:
			return frames.write(frameBroken, []byte(err.Error()))
		}
	}
}
