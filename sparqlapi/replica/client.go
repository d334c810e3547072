package replica

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/sparqlapi/replicate"
	"odarchive/triplestore/kv"
)

// Time limits of requests to the writer. A stopped process or a lost network must be noticed.
const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 10 * time.Second // beyond the wait that was asked for
	stallTimeout  = 30 * time.Second // without a byte of a long answer
	maxJSON       = 64 << 20
)

// Errors of the client.
var (
	errTrimmed = errors.New("the writer's log does not reach back to this replica's state")
	errHistory = errors.New("the writer has another history than this replica")
	errGone    = errors.New("the writer does not have the file any more")
	errRefused = errors.New("the writer refuses this replica")
)

// client asks the writer.
type client struct {
	base  string // without the final '/'
	token string
	name  string // of this replica, for the writer
	http  *http.Client
}

func newClient(base, token, name string) *client {
	transport := &http.Transport{
		Proxy:                 nil, // the writer is named by the operator
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       time.Minute,
		ResponseHeaderTimeout: 0, // each request has its own
		DisableCompression:    true,
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token goes to the writer only
	return &client{base: strings.TrimSuffix(base, "/"), token: token, name: name,
		http: &http.Client{Transport: transport, CheckRedirect: refuse}}
}

// get sends a request. The body ends with an error if nothing arrives for stallTimeout; wait is how long the writer may
// take to answer.
func (c *client) get(ctx context.Context, path string, q url.Values, ranges string, wait time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	address := c.base + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if ranges != "" {
		r.Header.Set("Range", ranges)
	}
	stall := time.AfterFunc(answerTimeout+wait, func() { cancel(errStalled) })
	resp, err := c.http.Do(r)
	if err != nil {
		stall.Stop()
		if context.Cause(ctx) == errStalled {
			err = fmt.Errorf("%s: %w", path, errStalled)
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &pacedBody{ReadCloser: resp.Body, stall: stall, cancel: cancel, ctx: ctx}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
	return nil, statusError(resp.StatusCode, path, string(text))
}

var errStalled = errors.New("the writer does not answer")

func statusError(status int, path, text string) error {
	var p struct{ Title, Detail string }
	if json.Unmarshal([]byte(text), &p) == nil && p.Title != "" {
		text = strings.TrimSuffix(p.Title+": "+p.Detail, ": ")
	}
	err := error(&answerError{path, status, text})
	switch status {
	case http.StatusGone:
		return fmt.Errorf("%w: %w", errTrimmed, err)
	case http.StatusConflict:
		return fmt.Errorf("%w: %w", errHistory, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", errRefused, err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return err
}

// answerError is an answer that is not the one that was asked for.
type answerError struct {
	path   string
	status int
	text   string
}

// Error returns the beginning of the answer.
func (e *answerError) Error() string {
	return fmt.Sprintf("%s: HTTP %d: %.300s", e.path, e.status, e.text)
}

// pacedBody is a body that ends when nothing arrives for stallTimeout.
type pacedBody struct {
	io.ReadCloser
	ctx    context.Context
	stall  *time.Timer
	cancel context.CancelCauseFunc
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.stall.Reset(stallTimeout)
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && context.Cause(b.ctx) == errStalled {
		err = errStalled
	}
	return n, err
}

func (b *pacedBody) Close() error {
	b.stall.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

func (c *client) json(ctx context.Context, path string, v any) error {
	resp, err := c.get(ctx, path, nil, "", 0)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxJSON)).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// identity asks who the writer is.
func (c *client) identity(ctx context.Context) (id replicate.Identity, err error) {
	err = c.json(ctx, "/replicate", &id)
	if e, ok := errors.AsType[*answerError](err); ok && e.status == http.StatusNotFound {
		return id, fmt.Errorf("%s serves no replicas: it may be a replica, an older program, or no archive: %w", c.base, e)
	}
	if err == nil && id.Version != replicate.Version {
		err = fmt.Errorf(
			"the writer speaks version %d of the protocol of replicas, this program version %d: upgrade the older one, replicas first",
			id.Version, replicate.Version)
	}
	return id, err
}

// Answers asks the server at an address whether it is one that replicas can follow: one that writes an archive, or
// could. The error says why it does not seem so.
func Answers(ctx context.Context, writer, token string) error {
	c := newClient(writer, token, "")
	defer c.http.CloseIdleConnections()
	_, err := c.identity(ctx)
	return err
}

func (c *client) packs(ctx context.Context) (list replicate.PackList, err error) {
	return list, c.json(ctx, "/replicate/packs", &list)
}

// log asks for the records behind a position, and waits for some.
func (c *client) log(ctx context.Context, at kv.Position, wait time.Duration) ([]kv.Record, replicate.End, error) {
	q := replicate.PositionQuery(at)
	q.Set("name", c.name)
	q.Set("wait", strconv.FormatInt(wait.Milliseconds(), 10))
	resp, err := c.get(ctx, "/replicate/log", q, "", wait)
	if err != nil {
		return nil, replicate.End{}, err
	}
	defer resp.Body.Close()
	return replicate.ReadLog(resp.Body)
}

// state asks for the whole database. The caller closes the body.
func (c *client) state(ctx context.Context) (body io.ReadCloser, at kv.Position, size int64, err error) {
	resp, err := c.get(ctx, "/replicate/state", url.Values{"name": {c.name}}, "", 10*time.Minute) // it may have to be written first
	if err != nil {
		return nil, at, 0, err
	}
	h := resp.Header
	id, err := hex.DecodeString(h.Get("Replica-Log"))
	if err == nil && len(id) != len(at.Log) {
		err = errors.New("no id of a log")
	}
	if err == nil {
		copy(at.Log[:], id)
		at.Number, err = strconv.ParseUint(h.Get("Replica-Number"), 10, 64)
	}
	if err == nil {
		var sum uint64
		sum, err = strconv.ParseUint(h.Get("Replica-Sum"), 16, 32)
		at.Sum = uint32(sum)
	}
	if err != nil {
		return nil, at, 0, errors.Join(fmt.Errorf("/replicate/state: %w: %w", replicate.ErrWire, err), resp.Body.Close())
	}
	return resp.Body, at, resp.ContentLength, nil
}

// pack asks for the bytes [from, to) of a file.
func (c *client) pack(ctx context.Context, name string, from, to int64) (io.ReadCloser, error) {
	resp, err := c.get(ctx, "/replicate/packs/"+url.PathEscape(name), nil, fmt.Sprintf("bytes=%d-%d", from, to-1), 0)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusPartialContent && from > 0 {
		return nil, errors.Join(fmt.Errorf("%s: %w: the range was ignored", name, replicate.ErrWire), resp.Body.Close())
	}
	return resp.Body, nil
}
