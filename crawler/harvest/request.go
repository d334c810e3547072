package harvest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler/inspect/charset"
	"odarchive/triplestore/compression"
)

// Request is a request for one document.
type Request struct {
	URL    string
	Method string // "" means GET
	Body   string
	Type   string // media type of Body
	Accept string // "" means */*
	Max    int64  // maximum size of the answer after content decoding; 0 means 64 MiB
	Tries  int    // attempts at status 429, 500, 502, 503, 504, network failures and truncated answers; 0 means 4
	Raw    bool   // leave the body as it is: no conversion to UTF-8
	Unless string // a Tag; if the document still has that version, the error wraps ErrNotModified
}

// Answer is a document that a source returned with status 200. Unless the request was Raw, Body is UTF-8, whatever the
// document declares.
type Answer struct {
	URL    string // after redirects
	Header http.Header
	Body   []byte
}

// StatusError is the error of an answer with another status. Body is its beginning, at most 64 KiB.
type StatusError struct {
	URL    string
	Status int
	Body   []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// ErrFinal is in the chain of a Doer's error that another attempt does not change.
var ErrFinal = errors.New("not to be tried again")

// ErrTooLong is wrapped by the error of an answer that is longer than allowed.
var ErrTooLong = errors.New("answered with more than")

const (
	maxAnswer  = 64 << 20
	maxTrouble = 64 << 10
)

// Ask sends a request and returns the answer. It tries again if the failure may be transient: after a pause or, after a
// status 429 or 503, when the Doer permits. The error is a *StatusError if the last answer had a status other than 200,
// and wraps ErrTooLong if the answer is longer than Max.
func Ask(ctx context.Context, doer Doer, r Request) (answer Answer, err error) {
	err = withRetries(ctx, r.Tries, func() (again bool, err error) {
		var resp *http.Response
		if resp, again, err = send(ctx, doer, r); err == nil {
			answer, again, err = read(resp, r)
		}
		return again, err
	})
	return answer, err
}

// Send is Ask for an answer of any length. The caller reads and closes the body, which is not converted to UTF-8. Max
// and Raw are ignored.
func Send(ctx context.Context, doer Doer, r Request) (resp *http.Response, err error) {
	err = withRetries(ctx, r.Tries, func() (again bool, err error) {
		resp, again, err = send(ctx, doer, r)
		return again, err
	})
	return resp, err
}

// withRetries calls try until it succeeds, fails for good, or has been called tries times.
func withRetries(ctx context.Context, tries int, try func() (again bool, err error)) error {
	if tries <= 0 {
		tries = 4
	}
	wait := time.Second
	for {
		again, err := try()
		tries--
		if err == nil || !again || tries <= 0 || ctx.Err() != nil {
			return err
		}
		var status *StatusError
		if errors.As(err, &status) && asksToWait(status.Status) {
			continue // the Doer waits
		}
		pause := time.NewTimer(wait)
		wait *= 3
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// send sends the request once. It returns the response if its status is 200.
func send(ctx context.Context, doer Doer, r Request) (resp *http.Response, again bool, err error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return nil, false, fmt.Errorf("malformed address %q: %w", r.URL, err)
	}
	if r.Accept != "" {
		req.Header.Set("Accept", r.Accept)
	}
	if r.Type != "" {
		req.Header.Set("Content-Type", r.Type)
	}
	if r.Unless != "" {
		unless(req, r.Unless)
	}
	resp, err = doer.Do(req)
	if err != nil {
		var lasting interface{ Permanent() bool }
		return nil, !errors.Is(err, ErrFinal) && !(errors.As(err, &lasting) && lasting.Permanent()), err
	}
	same := r.Unless != "" && (resp.StatusCode == http.StatusNotModified || resp.StatusCode == http.StatusOK &&
		Tag(resp.Header) == r.Unless)
	if resp.StatusCode == http.StatusOK && !same {
		return resp, false, nil
	}
	defer resp.Body.Close()
	if same {
		return nil, false, fmt.Errorf("%s %w", finalURL(resp, r), ErrNotModified)
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, maxTrouble)) // as much of it as can be read
	return nil, isTransient(resp.StatusCode), &StatusError{finalURL(resp, r), resp.StatusCode, head}
}

func finalURL(resp *http.Response, r Request) string {
	if resp.Request != nil && resp.Request.URL != nil {
		return resp.Request.URL.String()
	}
	return r.URL
}

// read reads the whole body and closes it. again reports whether another attempt may succeed.
func read(resp *http.Response, r Request) (answer Answer, again bool, err error) {
	defer resp.Body.Close()
	answer.URL, answer.Header = finalURL(resp, r), resp.Header
	limit := r.Max
	if limit <= 0 {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return answer, true, fmt.Errorf("%s broke off after %d bytes: %w", answer.URL, len(body), err)
	case int64(len(body)) > limit:
		return answer, false, fmt.Errorf("%s %w %d bytes", answer.URL, ErrTooLong, limit)
	}
	if !r.Raw && Packed(body) { // compressed without a declaration
		if body, err = unpack(body, limit); err != nil {
			return answer, false, fmt.Errorf("%s: %w", answer.URL, err)
		}
	}
	answer.Body = body
	if !r.Raw {
		answer.Body = toUTF8(body, resp.Header.Get("Content-Type"))
	}
	return answer, false, nil
}

// Packed reports whether bytes begin a gzip stream.
func Packed(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b\x08")) }

func unpack(body []byte, limit int64) ([]byte, error) {
	z, err := compression.Open(bytes.NewReader(body), compression.Gzip, compression.Options{})
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(plain)) > limit {
		err = fmt.Errorf("%w %d bytes", ErrTooLong, limit)
	}
	return plain, err
}

func isTransient(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return asksToWait(status)
}

func asksToWait(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// LooksLikeHTML reports whether a body begins like a page of HTML, such as an error or login page.
func LooksLikeHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), 1024)], []byte("\xef\xbb\xbf"))))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// toUTF8 returns body as UTF-8. Valid UTF-8 is taken for UTF-8 whatever was declared. Undefined bytes become U+FFFD. An
// XML declaration inside still names the original encoding; readers of XML must ignore it.
func toUTF8(body []byte, contentType string) []byte {
	if utf8.Valid(body) {
		return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	}
	hint := ""
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		hint = params["charset"]
	}
	r, err := charset.NewReader(bytes.NewReader(body), charset.Detect(body, hint).Name)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	decoded, err := io.ReadAll(r)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return bytes.ToValidUTF8(decoded, []byte("\ufffd"))
}
