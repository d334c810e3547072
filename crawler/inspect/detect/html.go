package detect

import "bytes"

// html decides between HTML and XHTML, with the help of name and declaration.
func (f *file) html(el element) Detection {
	xhtml := el.declared && (el.space == "http://www.w3.org/1999/xhtml" || el.doctypeXHTML)
	switch {
	case f.hints.name == "application/xhtml+xml" && (el.space != "" || el.doctypeXHTML):
		return Detection{Type: "application/xhtml+xml", Confidence: 0.95, Because: "an XHTML page by doctype or namespace, and by name"}
	case f.hints.name == "text/html" || f.hints.declared == "text/html" || !xhtml:
		return Detection{Type: "text/html", Confidence: 0.97, Because: "an HTML page by doctype or root element"}
	}
	return Detection{Type: "application/xhtml+xml", Confidence: 0.9, Because: "an XML declaration and the root element of XHTML"}
}

// htmlElement reports whether a page may begin with an element.
func htmlElement(low string) bool {
	switch low {
	case "html", "head", "body", "title", "meta", "script", "style", "table", "div", "p", "h1", "h2", "h3", "a", "br", "center", "font",
		"iframe", "link", "span",
		"form", "img", "ul", "ol", "b", "i", "base", "frameset", "noscript", "pre", "section", "main", "header", "nav", "article":
		return true
	}
	return false
}

// looksLikeHTML reports whether a text has the elements of a page.
func looksLikeHTML(b []byte) bool {
	b = b[:min(len(b), 16<<10)]
	if bytes.IndexByte(b, '<') < 0 {
		return false
	}
	low := bytes.ToLower(b)
	if i := bytes.Index(low, []byte("<!doctype html")); i >= 0 && i < 2048 {
		return true
	}
	if i := bytes.Index(low, []byte("<html")); i >= 0 && i < 2048 &&
		(bytes.Contains(low[i:], []byte("<head")) || bytes.Contains(low[i:], []byte("<body"))) {
		return true
	}
	if low[0] != '<' {
		return false
	}
	n := 0
	for _, t := range []string{"<head", "<title", "<body", "</title>", "<meta ", "<script", "</div>", "</p>", "<br", "<a href", "<table",
		"<img "} {
		if bytes.Contains(low, []byte(t)) {
			n++
		}
	}
	return n >= 3
}

// wellFormed reports whether a text without a declaration seems to end with the end tag of its root element.
func wellFormed(b []byte, el element) bool {
	end := "</" + el.name
	trimmed := bytes.TrimRight(b, " \t\r\n\x00")
	if bytes.HasSuffix(trimmed, []byte(">")) && bytes.Contains(trimmed[max(0, len(trimmed)-len(end)-64):], []byte(end)) {
		return true
	}
	return bytes.Count(b, []byte("</")) > 2 && !bytes.ContainsAny([]byte(el.name), "@/#")
}
