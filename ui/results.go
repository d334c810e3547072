package ui

import (
	"bytes"
	"net/http"
	"strings"
)

// rowsHere is where the table of a result goes in its page (results.html); a query cannot hold it, because the last one counts.
const rowsHere = "RESULT ROWS GO HERE"

// Results makes the page around a table of results that is streamed into it (protocol.Options.Page): how a browser
// without script sees an answer.
func (u *UI) Results(w http.ResponseWriter, r *http.Request, query string) (head, tail string) {
	v := view{Title: "Answer", Path: "/console", Scripts: []string{"page.js"}, Wide: true, Page: struct{ Query string }{query}}
	var page bytes.Buffer
	if err := u.pages.byName["results"].ExecuteTemplate(&page, "layout.html", v); err != nil {
		u.log.ErrorContext(r.Context(), "page around results", "err", err)
		return "<!doctype html><title>Answer</title>", ""
	}
	w.Header().Set("Content-Security-Policy", policy)
	text := page.String()
	at := strings.LastIndex(text, rowsHere)
	return text[:at], text[at+len(rowsHere):]
}
