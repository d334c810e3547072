package faces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"odarchive/cmd/internal/listen"
)

// Remote is a client of the process that holds an archive: a server at an address, or at the socket of a data
// directory.
type Remote struct {
	client *http.Client
	base   string // without a trailing slash
	token  string // empty over a socket

	// Slow, if not nil, is called when a command has said nothing for a while. The server may wait for something, such
	// as the object store of its backup.
	Slow func()
}

// slowAfter is when Slow is called.
const slowAfter = 10 * time.Second

// refusalWait is how long a client with inputs waits for the server to want them. A server that refuses says so before
// it is sent any: one that answers and closes while the client still sends is a broken connection, whose reason is
// lost.
const refusalWait = 10 * time.Second

// NewRemote returns a client of the server at an address such as http://localhost:8080/, with its token.
func NewRemote(address, token string) *Remote {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = refusalWait
	return &Remote{client: &http.Client{Transport: transport}, base: baseOf(address), token: token}
}

// baseOf returns the base of an archive, without a slash at its end, by the address of it, of its SPARQL endpoint, or
// of its API.
func baseOf(address string) string {
	address = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(address, "/"), "/sparql"), "/api/v1")
	return strings.TrimRight(address, "/")
}

// HolderOf returns a client of the process that serves the socket of a data directory; nil if there is none.
func HolderOf(ctx context.Context, data string) *Remote {
	dial := func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		err = listen.ShortPath(filepath.Join(data, socketFile), func(short string) (err error) {
			conn, err = new(net.Dialer).DialContext(ctx, "unix", short)
			return err
		})
		return conn, err
	}
	conn, err := dial(ctx, "", "")
	if err != nil || conn.Close() != nil {
		return nil
	}
	return &Remote{
		client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true, ExpectContinueTimeout: refusalWait}},
		base:   "http://odarchive.sock"}
}

// Send sends a request without a body and returns the response, whatever its status. The caller closes its body.
func (r *Remote) Send(ctx context.Context, method, path, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%q: expected an address such as http://localhost:8080/: %w", r.base, err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	return r.client.Do(req)
}

// refusal returns the error of a response whose status is not one of success. What is wrong with what was asked is the
// same sentence as without a server.
func (r *Remote) refusal(resp *http.Response, body []byte) error {
	var problem struct{ Title, Detail string }
	isProblem := json.Unmarshal(body, &problem) == nil && problem.Title != ""
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		if !isProblem || problem.Title == "No such route" || resp.StatusCode == http.StatusMethodNotAllowed {
			return ErrNotServed
		}
		fallthrough
	case http.StatusBadRequest, http.StatusConflict, http.StatusInsufficientStorage:
		if problem.Detail != "" {
			return errors.New(problem.Detail)
		}
	case http.StatusUnauthorized:
		return fmt.Errorf("the server answered %s: A token is required: give it with --token-file FILE, or in ODARCHIVE_TOKEN", resp.Status)
	}
	return fmt.Errorf("the server answered %s: %s", resp.Status, reason(resp.Header.Get("Content-Type"), body))
}
