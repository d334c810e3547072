package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/exchange/preserve"
)

// knownInput is the name of the input with which a client says what it holds: a line of JSON for each file, a heldLine.
const knownInput = "held"

type heldLine struct {
	URL string `json:"url"`
	preserve.Held
}

// Limits of what a client may say that it holds, in bytes.
const (
	maxHeldLine = 16 << 20
	maxHeld     = 512 << 20
)

// heldFiles are the files that a receiver holds, by their URLs.
type heldFiles map[string]preserve.Held

func (h heldFiles) put(url string, held preserve.Held) error {
	h[url] = held
	return nil
}

func (h heldFiles) of(url string) *preserve.Held {
	if held, ok := h[url]; ok {
		return &held
	}
	return nil
}

// readHeld reads what a client holds.
func readHeld(in io.ReadCloser) (heldFiles, error) {
	defer in.Close()
	held := heldFiles{}
	limited := &io.LimitedReader{R: in, N: maxHeld}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 64<<10), maxHeldLine)
	for lines.Scan() {
		var one heldLine
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("what the client holds: %w", err)
		}
		held[one.URL] = one.Held
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("what the client holds is too much to compare: more than %d bytes", maxHeld)
	}
	return held, lines.Err()
}

// clientEnd is the client's end of a command that a server runs and that exchanges versions.
type clientEnd struct {
	inputs []string                                 // that open provides, in the order in which the server opens them
	open   func(name string) (io.ReadCloser, error) // nil if there are none
	file   io.Writer                                // for what the server sends; nil if nothing
	// end is called when the server's command has ended, with its error, and returns that of both ends.
	end func(err error) error
}

// clientOfExport returns the client's end of an export.
func (c *cli) clientOfExport(ctx context.Context, args []string, open func() (*exportEnd, error)) (*clientEnd, error) {
	end, err := open()
	if err != nil {
		return nil, err
	}
	found := &faultLines{faults{out: c.stderr}}
	in, pipe := io.Pipe()
	received := make(chan error, 1)
	go func() {
		err := end.receive(ctx, in, found)
		in.CloseWithError(errReceiver)
		received <- err
	}()
	client := &clientEnd{inputs: dashes(args), file: pipe, end: func(err error) error {
		pipe.CloseWithError(err) // nil is the end of the stream
		received := <-received
		switch {
		case errors.Is(err, errReceiver):
			return received
		case err != nil:
			return err
		}
		return errors.Join(received, found.err())
	}}
	if end.known != nil {
		client.inputs = append(client.inputs, knownInput)
		client.open = func(name string) (io.ReadCloser, error) {
			if name != knownInput {
				return c.openInput(name)
			}
			held, send := io.Pipe()
			go func() {
				w := bufio.NewWriter(send)
				e := json.NewEncoder(w)
				err := end.known(ctx, func(url string, h preserve.Held) error { return e.Encode(heldLine{url, h}) })
				send.CloseWithError(errors.Join(err, w.Flush()))
			}()
			return held, nil
		}
	}
	return client, nil
}
