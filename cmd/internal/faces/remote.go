package faces

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"odarchive/cmd/internal/check"
	"odarchive/cmd/internal/listen"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/scope"
	"odarchive/triplestore/sparql"
)

// Remote is a client of the process that holds an archive: a server at an address, or at the socket of a data
// directory.
type Remote struct {
	client *http.Client
	base   string // without a trailing slash
	token  string // empty over a socket

	// Slow, if not nil, is called when a request has had no answer for a while. The server may wait for something, such
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

// do sends a request and returns the body of the response, which the caller closes.
func (r *Remote) do(ctx context.Context, method, path, contentType string, body []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%q: expected an address such as http://localhost:8080/: %w", r.base, err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Accept", "application/json, */*;q=0.5")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.Slow != nil {
		defer time.AfterFunc(slowAfter, r.Slow).Stop()
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode/100 == 2 {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return nil, errors.Join(r.refusal(resp, raw), err)
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

// answer sends a request and decodes the JSON response.
func (r *Remote) answer(ctx context.Context, method, path, contentType string, body []byte, into any) (err error) {
	in, err := r.do(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := json.NewDecoder(in).Decode(into); err != nil {
		return fmt.Errorf("%s does not answer as an archive does: %w", r.base, err)
	}
	return nil
}

// Check is Faces.Check, or with deep Faces.CheckDeep.
func (r *Remote) Check(ctx context.Context, repair, deep bool, progress check.Progress) (report check.Report, err error) {
	order, err := json.Marshal(checkOrder{repair, deep})
	if err != nil {
		return report, err
	}
	in, err := r.do(ctx, http.MethodPost, "/check", "application/json", order)
	if err != nil {
		return report, err
	}
	defer in.Close()
	for lines := json.NewDecoder(bufio.NewReader(in)); ; {
		var line checkLine
		if err := lines.Decode(&line); err != nil {
			return report, fmt.Errorf("the check broke off: %w", err)
		}
		switch {
		case line.Error != "":
			return report, errors.New(line.Error)
		case line.Report != nil:
			return *line.Report, nil
		case progress != nil:
			progress(line.Stage, line.Done, line.Total)
		}
	}
}

// Figures is Faces.Figures.
func (r *Remote) Figures(ctx context.Context) (f Figures, err error) {
	err = r.answer(ctx, http.MethodGet, "/stats/figures", "", nil, &f)
	return f, err
}

// Update is Faces.Update.
func (r *Remote) Update(ctx context.Context, text string) (done sparql.Updated, err error) {
	err = r.answer(ctx, http.MethodPost, "/sparql", "application/sparql-update", []byte(text), &done)
	return done, err
}

// Add registers seeds and reports which of them were new.
func (r *Remote) Add(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error) {
	type posted struct {
		Href    string `json:"href"`
		Title   string `json:"title,omitempty"`
		Format  string `json:"format,omitempty"`
		Portal  string `json:"portal,omitempty"`
		Dataset string `json:"dataset,omitempty"`
	}
	list := make([]posted, len(seeds))
	for i, s := range seeds {
		list[i] = posted{s.URL, s.Title, s.Format, s.Portal, s.Dataset}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	err = r.answer(ctx, http.MethodPost, "/post/resources", "application/json", body, &fresh)
	return fresh, err
}

// Order is the body of requests to control.API's orders.
type Order struct {
	Targets []string `json:"targets"`
	Why     string   `json:"why,omitempty"`
	Score   *float64 `json:"score,omitempty"`
	DryRun  bool     `json:"dryRun,omitempty"`
}

// Order posts an order to a path of the server.
func (r *Remote) Order(ctx context.Context, path string, o Order) (done frontier.Ordered, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return done, err
	}
	err = r.answer(ctx, http.MethodPost, path, "application/json", body, &done)
	return done, err
}

// Orders returns the latest orders, newest first.
func (r *Remote) Orders(ctx context.Context, limit int) ([]frontier.Note, error) {
	var list struct{ Orders []frontier.Note }
	err := r.answer(ctx, http.MethodGet, fmt.Sprintf("/crawl/orders?limit=%d", limit), "", nil, &list)
	return list.Orders, err
}

// ScopeRules is scope.Scope.List.
func (r *Remote) ScopeRules(ctx context.Context, after string, limit int) (list []scope.Listed, next string, err error) {
	var page struct {
		Rules []scope.Listed
		After string
	}
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}}
	err = r.answer(ctx, http.MethodGet, "/crawl/scope?"+query.Encode(), "", nil, &page)
	return page.Rules, page.After, err
}

// ScopeRefusals is scope.Scope.Refusals.
func (r *Remote) ScopeRefusals(ctx context.Context) ([]scope.Refusal, error) {
	var page struct{ Refused []scope.Refusal }
	err := r.answer(ctx, http.MethodGet, "/crawl/scope/refused", "", nil, &page)
	return page.Refused, err
}

// TestScope asks whether a URL may be fetched, with the texts of scope.ParseQuestion. why is "" if it may.
func (r *Remote) TestScope(ctx context.Context, link, area, mediaType, size string) (why string, err error) {
	query := url.Values{"url": {link}, "for": {area}, "type": {mediaType}, "size": {size}}
	var said struct{ Why string }
	err = r.answer(ctx, http.MethodGet, "/crawl/scope/test?"+query.Encode(), "", nil, &said)
	return said.Why, err
}

// ChangeScope adds or removes rules, as scope.ParseChange reads them, and returns how many.
func (r *Remote) ChangeScope(ctx context.Context, what string, rules []string, why string) (n int, err error) {
	body, err := json.Marshal(map[string]any{"rules": rules, "why": why})
	if err != nil {
		return 0, err
	}
	var done struct{ Rules int }
	err = r.answer(ctx, http.MethodPost, "/crawl/scope/"+what, "application/json", body, &done)
	return done.Rules, err
}

// Hold pauses or resumes the crawl. It returns why the crawl stands still then, "" if it does not.
func (r *Remote) Hold(ctx context.Context, pause bool, why string) (held string, err error) {
	path := "/crawl/resume"
	if pause {
		path = "/crawl/pause?" + url.Values{"why": {why}}.Encode()
	}
	var state struct{ Held string }
	err = r.answer(ctx, http.MethodPost, path, "", nil, &state)
	return state.Held, err
}
