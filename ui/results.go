package ui

import (
	"bytes"
	"net/http"
	"strings"
)

// rowsHere marks the place of the result table in its page (results.html). A query may contain it too, so the last one
// counts.
const rowsHere = "RESULT ROWS GO HERE"

// Results returns the page around a result table that is streamed (protocol.Options.Page). Browsers without script see
// answers this way.
func (u *UI) Results(w http.ResponseWriter, r *http.Request, query string) (head, tail string) {
	v := view{Title: "Answer", Path: "/console", Scripts: []string{"page.js"}, Wide: true, Page: struct{ Query string }{query}}
	u.sign(&v, r)
	var page bytes.Buffer
	results, err := u.pages.page("results")
	if err == nil {
		err = results.ExecuteTemplate(&page, "layout.html", v)
	}
	if err != nil {
		u.log.ErrorContext(r.Context(), "page around results", "err", err)
		return "<!doctype html><title>Answer</title>", ""
	}
	w.Header().Set("Content-Security-Policy", policy(v.Nonce))
	text := string(withoutControls(placed(page.Bytes(), u.mint.Root())))
	at := strings.LastIndex(text, rowsHere)
	return text[:at], text[at+len(rowsHere):]
}
