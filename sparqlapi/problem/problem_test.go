package problem_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"odarchive/sparqlapi/problem"
)

var errNoVersion = errors.New("no such version")

func answer(t *testing.T, o problem.Options, r *http.Request, err error) *http.Response {
	t.Helper()
	rec := httptest.NewRecorder()
	h := problem.Use(o)(problem.Handler(func(http.ResponseWriter, *http.Request) error { return err }))
	h.ServeHTTP(rec, r)
	return rec.Result()
}

func TestEachErrorHasOneAnswer(t *testing.T) {
	t.Parallel()
	table := problem.Table{{Err: errNoVersion, Status: 404, Title: "Unknown version", Public: true}}
	for _, c := range []struct {
		name   string
		err    error
		status int
		title  string
		detail string
	}{
		{"its own", problem.New(400, "Bad limit", "limit=x is no number"), 400, "Bad limit", "limit=x is no number"},
		{"its own, wrapped", fmt.Errorf("rest: %w", problem.New(409, "Taken", "")), 409, "Taken", ""},
		{"public text", problem.Wrap(400, "Syntax error", errors.New("line 3: expected }")), 400, "Syntax error", "line 3: expected }"},
		{"from the program's table", fmt.Errorf("archive: 7_1: %w", errNoVersion), 404, "Unknown version", "archive: 7_1: no such version"},
		{"a deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), 503, "The request exceeded its time limit", ""},
		{"too large", &http.MaxBytesError{Limit: 10}, 413, "The request is too large", "at most 10 bytes are allowed"},
		{"unsupported", fmt.Errorf("patch: %w", errors.ErrUnsupported), 501, "Not supported", "patch: unsupported operation"},
		{"a full disk, not public", fmt.Errorf("replace: %w", &fs.PathError{Op: "write", Path: "/var/secret", Err: syscall.ENOSPC}), 507,
			"The server's disk is full", "There is no room for temporary files."},
		{"unknown, not public", errors.New("open /var/secret: denied"), 500, "Internal server error", "The server's log has the cause."},
		{"no title", problem.New(418, "", ""), 418, "I'm a teapot", ""},
	} {
		res := answer(t, problem.Options{Table: table}, httptest.NewRequest("GET", "/x", nil), c.err)
		var doc struct {
			Type, Title, Detail string
			Status              int
		}
		if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if res.StatusCode != c.status || doc.Status != c.status || doc.Title != c.title || doc.Detail != c.detail ||
			doc.Type != "about:blank" {
			t.Errorf("%s: got %d %+v, want %d %q %q", c.name, res.StatusCode, doc, c.status, c.title, c.detail)
		}
		if got := res.Header.Get("Content-Type"); got != problem.ContentType {
			t.Errorf("%s: Content-Type %q", c.name, got)
		}
	}
}

func TestFieldsGoBesideAndNeverOverTheMembersOfTheRFC(t *testing.T) {
	t.Parallel()
	err := problem.With(400, "Syntax error", errors.New("unexpected }"), "line", 3, "col", 14, "status", "liar", "detail", "liar")
	res := answer(t, problem.Options{}, httptest.NewRequest("GET", "/", nil), err)
	body, _ := io.ReadAll(res.Body)
	want := `{"col":14,"detail":"unexpected }","line":3,"status":400,"title":"Syntax error","type":"about:blank"}` + "\n"
	if string(body) != want {
		t.Errorf("got  %swant %s", body, want)
	}
}

func TestOnlyServerFailuresAreLoggedAndOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := problem.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
	answer(t, o, httptest.NewRequest("GET", "/", nil), problem.New(404, "No", ""))
	if log.Len() != 0 {
		t.Errorf("a 404 was logged: %s", &log)
	}
	answer(t, o, httptest.NewRequest("GET", "/", nil), errors.New("disk on fire"))
	if n := strings.Count(log.String(), "disk on fire"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

func TestAClientThatClosedItsSideIsNeverAnswered200(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(problem.ErrStopping)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{gone, fmt.Errorf("query: %w", context.Canceled), 499},
		{gone, errors.New("write: broken pipe"), 499},
		{gone, problem.New(400, "Syntax error", ""), 400},
		{stopped, fmt.Errorf("update: %w", context.Canceled), 503},
		{stopped, problem.New(400, "Syntax error", ""), 400},
	} {
		if res := answer(t, problem.Options{}, httptest.NewRequest("GET", "/", nil).WithContext(c.ctx), c.err); res.StatusCode != c.want {
			t.Errorf("%v: %d, want %d", c.err, res.StatusCode, c.want)
		}
	}
}

func TestHeadHasNoBodyAndHeadersOfTheFailedAnswerGo(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	rec.Header().Set("ETag", `"x"`)
	rec.Header().Set("Content-Encoding", "gzip")
	problem.Write(rec, httptest.NewRequest("HEAD", "/", nil), &problem.Error{Status: 503, RetryAfter: 1500 * time.Millisecond})
	res := rec.Result()
	if rec.Body.Len() != 0 || res.Header.Get("ETag") != "" || res.Header.Get("Content-Encoding") != "" {
		t.Errorf("left over: %v %q", res.Header, rec.Body)
	}
	if got := res.Header.Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q, want 2", got)
	}
}

func TestAPageMayStandInForTheDocument(t *testing.T) {
	t.Parallel()
	o := problem.Options{Page: func(w http.ResponseWriter, r *http.Request, e *problem.Error) bool {
		if r.Header.Get("Accept") != "text/html" {
			return false
		}
		w.WriteHeader(e.Status)
		io.WriteString(w, "<h1>"+e.Title+"</h1>")
		return true
	}}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "text/html")
	res := answer(t, o, r, problem.New(404, "Unknown", ""))
	if body, _ := io.ReadAll(res.Body); string(body) != "<h1>Unknown</h1>" || res.StatusCode != 404 {
		t.Errorf("got %d %q", res.StatusCode, body)
	}
	if res := answer(t, o, httptest.NewRequest("GET", "/", nil),
		problem.New(404, "Unknown", "")); res.Header.Get("Content-Type") != problem.ContentType {
		t.Errorf("a program got %v", res.Header)
	}
}

func TestRefusalsForAWhileSayUntilWhen(t *testing.T) {
	t.Parallel()
	for _, page := range []bool{false, true} {
		h := problem.Use(problem.Options{Page: func(w http.ResponseWriter, _ *http.Request, e *problem.Error) bool {
			if page {
				w.WriteHeader(e.Status)
			}
			return page
		}})(problem.Handler(func(_ http.ResponseWriter, r *http.Request) error {
			status, err := strconv.Atoi(r.URL.Query().Get("status"))
			if err != nil {
				return err
			}
			return problem.New(status, "Later", "not now")
		}))
		for status, want := range map[int]string{429: "5", 503: "5", 404: "", 500: ""} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/?status="+strconv.Itoa(status), nil))
			if got := w.Header().Get("Retry-After"); w.Code != status || got != want {
				t.Errorf("page %v: %d with Retry-After %q, want %d with %q", page, w.Code, got, status, want)
			}
		}
	}
}
