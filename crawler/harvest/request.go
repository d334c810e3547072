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

// Request asks a source for one document.
type Request struct {
	URL    string
	Method string // "" = GET
	Body   string
	Type   string // media type of Body
	Accept string // "" = */*
	Max    int64  // bytes of the answer at the most, after content decoding; 0 = 64 MiB
	Tries  int    // at 429, 500, 502, 503, 504, a network failure or a cut-off answer; 0 = 4
	Raw    bool   // leave the bytes as they came: no conversion to UTF-8
	Unless string // a Tag: where the document is still that version, the error is an ErrNotModified
}

// Answer is a document that a source gave with status 200. Body is UTF-8 (unless Raw), whatever its declaration says.
type Answer struct {
	URL    string // after redirects
	Header http.Header
	Body   []byte
}

// StatusError is an answer with another status; Body is its beginning, at most 64 KiB.
type StatusError struct {
	URL    string
	Status int
	Body   []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// ErrTooLong is in the error of an answer that is longer than what was allowed.
var ErrTooLong = errors.New("answered with more than")

const (
	maxAnswer  = 64 << 20
	maxTrouble = 64 << 10
)

// Ask sends a request, and again where the trouble may pass: after a pause, or when the Doer lets it after a 429 or 503. An answer that is longer than
// Max is an ErrTooLong. The error is a *StatusError where the last answer had a status other than 200.
func Ask(ctx context.Context, doer Doer, r Request) (answer Answer, err error) {
	err = patiently(ctx, r.Tries, func() (again bool, err error) {
		var resp *http.Response
		if resp, again, err = send(ctx, doer, r); err == nil {
			answer, again, err = read(resp, r)
		}
		return again, err
	})
	return answer, err
}

// Send is Ask for an answer of any length: its body, not decoded to UTF-8, is the caller's to read and close. Max and Raw
// do not matter.
func Send(ctx context.Context, doer Doer, r Request) (resp *http.Response, err error) {
	err = patiently(ctx, r.Tries, func() (again bool, err error) {
		resp, again, err = send(ctx, doer, r)
		return again, err
	})
	return resp, err
}

// patiently tries until there is no error, or one that will not pass, or tries are used up.
func patiently(ctx context.Context, tries int, try func() (again bool, err error)) error {
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

// send once, for an answer with status 200.
func send(ctx context.Context, doer Doer, r Request) (resp *http.Response, again bool, err error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return nil, false, fmt.Errorf("%q is no address: %w", r.URL, err)
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
		return nil, true, err
	}
	same := r.Unless != "" && (resp.StatusCode == http.StatusNotModified || resp.StatusCode == http.StatusOK && Tag(resp.Header) == r.Unless)
	if resp.StatusCode == http.StatusOK && !same {
		return resp, false, nil
	}
	defer resp.Body.Close()
	if same {
		return nil, false, fmt.Errorf("%s %w", finalURL(resp, r), ErrNotModified)
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, maxTrouble)) // what can be read of it is enough
	return nil, passing(resp.StatusCode), &StatusError{finalURL(resp, r), resp.StatusCode, head}
}

func finalURL(resp *http.Response, r Request) string {
	if resp.Request != nil && resp.Request.URL != nil {
		return resp.Request.URL.String()
	}
	return r.URL
}

// read the body whole and close it. again tells whether another try makes sense.
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
	if !r.Raw && Packed(body) { // without a word in the header
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

// Packed tells bytes of gzip.
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

func passing(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return asksToWait(status)
}

func asksToWait(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// LooksLikeHTML tells an error or a login page from what was asked for.
func LooksLikeHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), 1024)], []byte("\xef\xbb\xbf"))))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// toUTF8 believes bytes before declarations: what is valid UTF-8 is UTF-8. A byte without a meaning becomes U+FFFD. An
// XML declaration inside still names the encoding of before; readers of XML must pass it over.
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
