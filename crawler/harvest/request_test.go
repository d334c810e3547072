package harvest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answers is a Doer that returns prepared answers in order, and repeats the last.
type answers struct {
	list  []http.HandlerFunc
	asked int
	last  time.Time
}

func (a *answers) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a.list[min(a.asked, len(a.list)-1)](w, req)
	a.asked, a.last = a.asked+1, time.Now()
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

func TestWaitingForASourceThatAsksForPatienceIsLeftToTheDoer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, pause := range map[int]time.Duration{503: 0, 429: 0, 502: time.Second} {
			began := time.Now()
			web := &answers{list: []http.HandlerFunc{says(status, "busy", "Retry-After", "40"), says(200, "here")}}
			answer, err := Ask(t.Context(), web, Request{URL: "http://a.example/x"})
			if err != nil || string(answer.Body) != "here" || web.last.Sub(began) != pause {
				t.Errorf("%d: %q, %v, after %v", status, answer.Body, err, web.last.Sub(began))
			}
		}
	})
}

func TestADocumentThatIsKnownIsNotReadAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, tag, asks string
		answer           http.HandlerFunc
	}{
		{"by its ETag", `W/"1"`, "If-None-Match", says(304, "")},
		{"by its date", "Mon, 02 Mar 2026 10:00:00 GMT", "If-Modified-Since", says(304, "")},
		{"by an ETag that the server passes over", `"1"`, "If-None-Match", says(200, "all of it", "ETag", `"1"`)},
	} {
		asked := ""
		web := &answers{
			list: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { asked = r.Header.Get(c.asks); c.answer(w, r) }}}
		if _, err := Ask(t.Context(), web, Request{URL: "http://a.example/x", Unless: c.tag}); !errors.Is(err, ErrNotModified) ||
			asked != c.tag || web.asked != 1 {
			t.Errorf("%s: %v, %s was %q, %d requests", c.about, err, c.asks, asked, web.asked)
		}
	}
	if _, err := Ask(t.Context(), &answers{list: []http.HandlerFunc{says(304, "")}}, Request{URL: "http://a.example/x"}); err == nil ||
		errors.Is(err, ErrNotModified) {
		t.Errorf("a 304 that was not asked for: %v", err)
	}
	if _, err := Ask(t.Context(), &answers{list: []http.HandlerFunc{says(200, "new", "ETag", `"2"`)}},
		Request{URL: "http://a.example/x", Unless: `"1"`}); err != nil {
		t.Errorf("another version: %v", err)
	}
}

func TestASourceThatStaysBrokenIsGivenUpWithItsStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &answers{list: []http.HandlerFunc{says(502, "no")}}
		_, err := Ask(t.Context(), web, Request{URL: "http://a.example/x", Tries: 3})
		var status *StatusError
		if !errors.As(err, &status) || status.Status != 502 || web.asked != 3 {
			t.Fatalf("%v after %d requests", err, web.asked)
		}
	})
}

func TestAStatusThatWillNotPassIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	web := &answers{list: []http.HandlerFunc{says(404, "no")}}
	if _, err := Ask(t.Context(), web, Request{URL: "http://a.example/x"}); err == nil || web.asked != 1 {
		t.Fatalf("%v after %d requests", err, web.asked)
	}
}

func TestAnEndlessAnswerIsAnError(t *testing.T) {
	t.Parallel()
	web := &answers{list: []http.HandlerFunc{says(200, strings.Repeat("x", 101))}}
	if _, err := Ask(t.Context(), web, Request{URL: "http://a.example/x", Max: 100}); err == nil ||
		!strings.Contains(err.Error(), "more than 100 bytes") {
		t.Fatalf("error %v", err)
	}
}

func TestAnswersAreUTF8WhateverTheyClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, body, contentType, want string }{
		{"says Latin-1, is UTF-8", "Zürich", "text/plain; charset=iso-8859-1", "Zürich"},
		{"says UTF-8, is windows-1252", "Z\xfcrich und Gen\xe8ve, die St\xe4dte", "text/plain; charset=utf-8",
			"Zürich und Genève, die Städte"},
		{"begins with a mark", "\xef\xbb\xbfa", "", "a"},
	} {
		web := &answers{list: []http.HandlerFunc{says(200, c.body, "Content-Type", c.contentType)}}
		if answer, err := Ask(t.Context(), web, Request{URL: "http://a.example/x"}); err != nil || string(answer.Body) != c.want {
			t.Errorf("%s: %q, %v", c.about, answer.Body, err)
		}
	}
}
