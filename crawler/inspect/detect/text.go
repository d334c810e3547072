package detect

import (
	"bytes"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// text recognises a file that has been decoded to UTF-8.
func (f *file) text(text []byte) Detection {
	trimmed := bytes.TrimLeft(text, "\ufeff \t\r\n\f\x00")
	if len(trimmed) == 0 {
		return Detection{Type: "text/plain", Confidence: 0.6, Because: "nothing but white space"}
	}
	for _, sniff := range []func([]byte) (Detection, bool){f.json, opening, f.mail, f.markup, rdfText, patch} {
		if d, ok := sniff(trimmed); ok {
			return f.named(d, trimmed)
		}
	}
	return f.named(f.tableOrProse(text), trimmed)
}

// named replaces the type of d by that of the name, or else the declaration, if the content allows: statements in a
// file called .ttl are Turtle, since Turtle includes N-Triples.
func (f *file) named(d Detection, text []byte) Detection {
	for _, want := range []string{f.hints.name, f.hints.declared} {
		if want == "" || want == d.Type {
			continue
		}
		if allows(d.Type, want, text) {
			d.Because = "content of " + d.Type + ", which can be " + want + " as its name or declaration says"
			d.Type, d.Tabular, d.Confidence = want, false, min(d.Confidence, 0.75)
		}
		return d
	}
	return d
}

// allows reports whether content recognised as one type may also be of another.
func allows(got, want string, text []byte) bool {
	unsure := got == "text/plain" || got == "text/csv" || got == "text/tab-separated-values"
	switch want {
	case "application/n-quads":
		return got == "application/n-triples" || unsure && text[0] == '<' || got == "text/turtle" && statement(firstLine(text)) >= 3
	case "application/n-triples":
		return unsure && text[0] == '<' || got == "text/turtle" && statement(firstLine(text)) == 3
	case "text/turtle":
		return got == "application/n-triples" || got == "text/n3" || unsure && statementsIn(text)
	case "application/trig":
		return got == "application/n-triples" || got == "application/n-quads" || got == "text/turtle" || unsure && statementsIn(text)
	case "text/n3":
		return got == "application/n-triples" || got == "text/turtle" || unsure && statementsIn(text)
	case "application/sparql-query":
		return got == "text/turtle" || got == "application/trig" || unsure
	case "application/ld+json", "application/json", "application/geo+json", "application/topo+json", "application/csvm+json":
		return got == "application/json" && want != "application/topo+json" || unsure && (text[0] == '{' || text[0] == '[')
	case "application/x-ndjson":
		return got == "application/json" || got == "application/geo+json" || unsure && text[0] == '{' && onePerLine(text)
	case "application/xml", "text/xml":
		return unsure && text[0] == '<'
	case "text/html":
		return (got == "application/xml" || unsure) && text[0] == '<'
	}
	return false
}

// firstLine returns a text up to its first line feed.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}

// statementsIn reports whether a text may be Turtle or a related syntax.
func statementsIn(text []byte) bool {
	return bytes.ContainsAny(text, ":<") && bytes.ContainsRune(text, '.') || bytes.HasPrefix(text, []byte("#"))
}

// opening recognises texts by their beginning.
func opening(b []byte) (Detection, bool) {
	for _, o := range []struct{ start, mime, what string }{
		{"BEGIN:VCALENDAR", "text/calendar", "iCalendar"},
		{"BEGIN:VCARD", "text/vcard", "a vCard"},
		{"{\\rtf", "application/rtf", "RTF"},
		{"%!PS-AdobeFont", "application/x-font-type1", "a Type 1 font"},
		{"%!FontType1", "application/x-font-type1", "a Type 1 font"},
		{"%!PS", "application/postscript", "PostScript"},
		{"WEBVTT", "text/vtt", "WebVTT"},
		{"WARC/1.", "application/warc", "a WARC web archive"},
		{"<?php", "text/x-php", "PHP"},
		{"-- MySQL dump", "application/sql", "a database dump"},
		{"-- PostgreSQL database dump", "application/sql", "a database dump"},
		{"--\n-- PostgreSQL database dump", "application/sql", "a database dump"},
		{"%PDF-", "application/pdf", "PDF"},
		{"/* XPM */", "image/x-xpixmap", "an image in XPM"},
	} {
		if bytes.HasPrefix(b, []byte(o.start)) {
			return Detection{Type: o.mime, Confidence: 0.95, Because: "it begins as " + o.what + " does"}, true
		}
	}
	if t := interpreted(b); t != "" {
		return Detection{Type: t, Confidence: 0.95, Because: "its first line names the program that runs it"}, true
	}
	head := b[:min(len(b), 4096)]
	switch {
	case sylk(head):
		return Detection{Type: "application/x-sylk", Confidence: 0.95, Because: "the records of a spreadsheet in SYLK"}, true
	case dif(head):
		return Detection{Type: "application/x-dif", Confidence: 0.95, Because: "the header of a table in the Data Interchange Format"}, true
	case (bytes.HasPrefix(b, []byte("CHARSET=")) || bytes.HasPrefix(b, []byte("AXIS-VERSION="))) &&
		bytes.Contains(head, []byte("MATRIX=")) || pcAxis(b):
		return Detection{Type: "text/x-pcaxis", Confidence: 0.95, Because: "the keywords of PC-Axis"}, true
	case bytes.HasPrefix(b, []byte("ncols")) && bytes.Contains(head, []byte("nrows")) && bytes.Contains(head, []byte("cellsize")):
		return Detection{Type: "text/x-arcgrid", Confidence: 0.9, Because: "the header of an ESRI ASCII grid"}, true
	case dxf(b):
		return Detection{Type: "image/vnd.dxf", Confidence: 0.9, Because: "the sections of a drawing in DXF"}, true
	case wavefront(head):
		return Detection{Type: "model/obj", Confidence: 0.85, Because: "the vertices of a model in Wavefront OBJ"}, true
	case xbm(head):
		return Detection{Type: "image/x-xbitmap", Confidence: 0.95, Because: "the width and height of an image in XBM"}, true
	case manual(head):
		return Detection{Type: "text/troff", Confidence: 0.9, Because: "the requests of a manual page"}, true
	case bytes.HasPrefix(b, []byte("TY  - ")):
		return Detection{Type: "application/x-research-info-systems", Confidence: 0.9, Because: "the tags of RIS references"}, true
	case bibtex(head):
		return Detection{Type: "application/x-bibtex", Confidence: 0.9, Because: "entries of BibTeX"}, true
	}
	return Detection{}, false
}

// sylk recognises a spreadsheet by its ID record and the records after it: one or two letters and fields after
// semicolons.
func sylk(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("ID;")) {
		return false
	}
	records := 0
	for line := range bytes.Lines(b) {
		kind, _, ok := bytes.Cut(bytes.TrimSpace(line), []byte{';'})
		switch string(kind) {
		case "ID", "P", "F", "B", "C", "NN", "NE", "NU", "O", "W":
			if !ok {
				return false
			}
			records++
		case "E", "":
		default:
			return records >= 4 // a line longer than the sample, or what a program has added
		}
		if records == 4 {
			return true
		}
	}
	return records >= 2
}

// dif recognises a table by the topic TABLE, its version, and a topic after its title.
func dif(b []byte) bool {
	var lines []string
	for line := range bytes.Lines(b) {
		if lines = append(lines, strings.TrimSpace(string(line))); len(lines) == 4 {
			break
		}
	}
	return len(lines) == 4 && lines[0] == "TABLE" && strings.HasPrefix(lines[1], "0,") && strings.HasPrefix(lines[2], `"`) &&
		lines[3] == strings.ToUpper(lines[3])
}

// bibtex recognises an entry: a line that begins with @kind{key.
func bibtex(b []byte) bool {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '%' {
			continue
		}
		if line[0] != '@' {
			return false
		}
		kind, key, ok := bytes.Cut(line[1:], []byte{'{'})
		switch strings.ToLower(strings.TrimSpace(string(kind))) {
		case "article", "book", "inproceedings", "incollection", "misc", "techreport", "phdthesis", "mastersthesis", "proceedings",
			"inbook", "booklet",
			"manual", "unpublished", "online", "dataset", "string", "comment", "preamble", "conference":
			return ok && len(key) < 500
		}
		return false
	}
	return false
}

// patch recognises a patch of git.
func patch(b []byte) (Detection, bool) {
	if bytes.HasPrefix(b, []byte("diff --git ")) {
		return Detection{Type: "text/x-diff", Confidence: 0.9, Because: "it begins as a patch does"}, true
	}
	return Detection{}, false
}

// tableOrProse decides on a text that no other sniffer recognises.
func (f *file) tableOrProse(text []byte) Detection {
	if t := f.hints.text(); t != "" && !(program(t) && records(text)) {
		return Detection{Type: t, Confidence: 0.7, Because: "a text; its name or declaration says " + t}
	}
	shape := csvprofile.Shape(text, f.whole)
	t, what := "text/csv", "cells separated by "+quoted(shape.Delimiter)
	if shape.Delimiter == "\t" {
		t = "text/tab-separated-values"
	}
	asked := f.hints.says("text/csv", "text/tab-separated-values")
	switch {
	case asked && (shape.Rows >= 1):
		if f.hints.says("text/tab-separated-values") && shape.Delimiter != "\t" && shape.Columns > 1 && !f.hints.says("text/csv") {
			t = "text/csv"
		} else if shape.Delimiter == "\t" && f.hints.name == "text/csv" {
			t = "text/csv"
		}
		if shape.Columns > 1 {
			return Detection{Type: t, Tabular: true, Confidence: 0.95, Because: what + ", as its name or declaration says"}
		}
		if f.hints.says("text/tab-separated-values") && !f.hints.says("text/csv") {
			t = "text/tab-separated-values"
		}
		return Detection{Type: t, Tabular: true, Confidence: 0.6, Because: "lines of one cell; its name or declaration says a table"}
	case f.hints.says("text/markdown"): // its tables and lists read as cells, but are text (RFC 7763)
		return Detection{Type: "text/markdown", Confidence: 0.8, Because: "a text, and Markdown as its name or declaration says"}
	case f.hints.name == "text/plain":
		if shape.Table {
			return Detection{Type: "text/plain", Tabular: true, Confidence: 0.7, Because: "named as plain text; reads as a table, " + what}
		}
		return Detection{Type: "text/plain", Confidence: 0.9, Because: "a text without structure"}
	case shape.Table:
		return Detection{Type: t, Tabular: true, Confidence: 0.85, Because: what + ", in rows of equal length"}
	}
	return Detection{Type: "text/plain", Confidence: 0.8, Because: "a text without structure"}
}

// quoted returns the name of a delimiter, or the delimiter in quotation marks.
func quoted(d string) string {
	switch d {
	case ",":
		return "commas"
	case ";":
		return "semicolons"
	case "\t":
		return "tabs"
	case "|":
		return "bars"
	case " ":
		return "blanks"
	}
	return "“" + d + "”"
}
