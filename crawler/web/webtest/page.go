package webtest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// quiet discards the logs of the servers, which break connections on purpose.
var quiet = log.New(io.Discard, "", 0)

// page is one path of a host, with its responses over time.
type page struct {
	answers []*answer // in the order of the archive
}

// answer is one state of a page. The directives are:
//
//	> status 404              responds with the status instead of 200
//	> header Name: value      sets a header; may be repeated
//	> redirect URL [status]   redirects, with 302 by default
//	> etag                    sends an entity tag made from the body, and 304 to a client that has it
//	> modified TIME           sends Last-Modified (RFC 3339), and 304 to a client that has it
//	> gzip                    compresses the body, with Content-Encoding
//	> repeat N                sends the body N times
//	> wait DURATION           waits before the response
//	> drip N DURATION         sends N bytes at a time, with pauses
//	> length N                sends a false Content-Length
//	> cut N                   closes the connection after N bytes of the body
//	> endless                 repeats the body for ever
//	> hang                    accepts the request and never responds
//	> close                   closes the connection instead of responding
//	> want TEXT               is the outcome that a test expects; see Wants
//	> raw [crlf]              sends the section as it is; the lines of its head end with CR LF, with crlf all its
//	    lines
type answer struct {
	from     from
	status   int
	header   http.Header
	body     []byte
	etag     string
	modified time.Time
	wait     time.Duration
	dripSize int
	dripWait time.Duration
	length   int
	cut      int
	endless  bool
	hang     bool
	close    bool
	raw      bool
	crlf     bool
	want     string
}

// from is the state or the time from which an answer is served.
type from struct {
	state int
	at    time.Time
}

// cutState splits a section's name at " @STATE".
func cutState(name string) (string, from, error) {
	name, state, ok := strings.Cut(name, " @")
	if !ok {
		return name, from{}, nil
	}
	if n, err := strconv.Atoi(state); err == nil {
		return name, from{state: n}, nil
	}
	at, err := time.Parse(time.RFC3339, state)
	return name, from{at: at}, err
}

func cutDirectives(data []byte) (directives []string, body []byte) {
	for bytes.HasPrefix(data, []byte(">")) {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		directives = append(directives, strings.TrimSpace(string(line[1:])))
		data = rest
	}
	return directives, data
}

func newAnswer(directives []string, body []byte) (*answer, error) {
	a := &answer{status: 200, header: http.Header{}, body: body, length: -1, cut: -1}
	for _, d := range directives {
		if err := a.direct(d); err != nil {
			return nil, fmt.Errorf("directive %q: %w", d, err)
		}
	}
	if a.raw {
		head, rest, ok := bytes.Cut(a.body, []byte("\n\n"))
		if !ok || a.crlf {
			head, rest = a.body, nil
		}
		head = bytes.ReplaceAll(head, []byte("\n"), []byte("\r\n"))
		if ok && !a.crlf {
			head = append(head, "\r\n\r\n"...)
		}
		a.body = append(head, rest...)
	}
	return a, nil
}

func (a *answer) direct(d string) (err error) {
	word, arg, _ := strings.Cut(d, " ")
	switch word {
	case "status":
		a.status, err = strconv.Atoi(arg)
	case "header":
		name, value, _ := strings.Cut(arg, ":")
		a.header.Add(name, strings.TrimSpace(value))
	case "redirect":
		to, status, ok := strings.Cut(arg, " ")
		a.status = 302
		if ok {
			a.status, err = strconv.Atoi(status)
		}
		a.header.Set("Location", to)
	case "etag":
		a.etag = fmt.Sprintf(`"%x"`, sha256.Sum256(a.body))[:17] + `"`
	case "modified":
		a.modified, err = time.Parse(time.RFC3339, arg)
	case "gzip":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err = z.Write(a.body)
		err = errors.Join(err, z.Close())
		a.body = b.Bytes()
		a.header.Set("Content-Encoding", "gzip")
	case "repeat":
		var n int
		n, err = strconv.Atoi(arg)
		a.body = bytes.Repeat(a.body, n)
	case "wait":
		a.wait, err = time.ParseDuration(arg)
	case "drip":
		size, pause, _ := strings.Cut(arg, " ")
		a.dripSize, err = strconv.Atoi(size)
		if err == nil {
			a.dripWait, err = time.ParseDuration(pause)
		}
	case "length":
		a.length, err = strconv.Atoi(arg)
	case "cut":
		a.cut, err = strconv.Atoi(arg)
	case "endless":
		a.endless = true
	case "hang":
		a.hang = true
	case "close":
		a.close = true
	case "raw":
		a.raw, a.crlf = true, arg == "crlf"
	case "want":
		a.want = arg
	default:
		err = errors.New("unknown")
	}
	return err
}

// current returns the answer that the page has in a state at a time.
func (p *page) current(state int, now time.Time) *answer {
	var cur *answer
	for _, a := range p.answers {
		if a.from.state <= state && !a.from.at.After(now) {
			cur = a
		}
	}
	return cur
}

// ServeHTTP records the request and serves the page's current answer.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RequestURI()
	noted := &Request{Host: h.name, Method: r.Method, Path: path, Header: r.Header.Clone(), Proto: r.Proto, Remote: r.RemoteAddr,
		Start: time.Now()}
	h.web.mu.Lock()
	h.web.requests = append(h.web.requests, noted)
	h.inFlight++
	h.maxInFlight = max(h.maxInFlight, h.inFlight)
	state := h.web.state
	h.web.mu.Unlock()
	defer func() {
		h.web.mu.Lock()
		h.inFlight--
		noted.End = time.Now()
		h.web.mu.Unlock()
	}()

	p := h.pages[path]
	if p == nil {
		p = h.pages[r.URL.Path]
	}
	var a *answer
	if p != nil {
		a = p.current(state, h.web.opts.Now())
	}
	if a == nil {
		http.NotFound(w, r)
		return
	}
	a.serve(w, r, h.web.closing)
}

func (a *answer) serve(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) {
	if a.hang {
		select {
		case <-closing:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	if !a.pause(a.wait, r, closing) || a.close {
		panic(http.ErrAbortHandler)
	}
	if a.raw {
		a.sendRaw(w)
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.etag != "" {
		w.Header().Set("ETag", a.etag)
	}
	if !a.modified.IsZero() {
		w.Header().Set("Last-Modified", a.modified.UTC().Format(http.TimeFormat))
	}
	if a.fresh(r) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	switch {
	case a.length >= 0:
		w.Header().Set("Content-Length", strconv.Itoa(a.length))
	case !a.endless && a.dripSize == 0:
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	a.send(w, r, closing)
}

// fresh reports whether the client has this answer already.
func (a *answer) fresh(r *http.Request) bool {
	if tag := r.Header.Get("If-None-Match"); tag != "" {
		return a.etag == tag
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && !a.modified.IsZero() && !a.modified.Truncate(time.Second).After(since)
}

func (a *answer) send(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) {
	body := a.body
	if a.cut >= 0 {
		body = body[:min(a.cut, len(body))]
	}
	for {
		for rest := body; len(rest) > 0; {
			n := len(rest)
			if a.dripSize > 0 {
				n = min(n, a.dripSize)
			}
			if _, err := w.Write(rest[:n]); err != nil {
				return
			}
			if rest = rest[n:]; a.dripSize > 0 {
				_ = http.NewResponseController(w).Flush() // the next write reports a lost connection
				if !a.pause(a.dripWait, r, closing) {
					panic(http.ErrAbortHandler)
				}
			}
		}
		if !a.endless || r.Context().Err() != nil {
			break
		}
	}
	if a.cut >= 0 {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// sendRaw writes the section's bytes to the connection.
func (a *answer) sendRaw(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	_, _ = conn.Write(a.body) // the client may have closed the connection
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// pause waits for d. It returns false if the web is closed or the client disconnects meanwhile.
func (a *answer) pause(d time.Duration, r *http.Request, closing <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-closing:
	case <-r.Context().Done():
	}
	return false
}
