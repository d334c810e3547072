package webpage_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/term"
)

// TestPagesAreReadInTheEncodingThatTheyDeclare has its first letter beyond ASCII behind the bytes that browsers guess
// from.
func TestPagesAreReadInTheEncodingThatTheyDeclare(t *testing.T) {
	t.Parallel()
	body := `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>` + strings.Repeat("a long title ", 120) +
		`</title></head><body><p about="#x" property="http://e.example/name">Überflutung, данные</p></body></html>`
	latin := `<html><head><title>` + strings.Repeat("a long title ", 120) +
		`</title></head><body><p about="#x" property="http://e.example/name">Überflutung</p></body></html>`
	one, err := charmap.ISO8859_1.NewEncoder().String(latin)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, page, contentType, want string }{
		{"XML declaration", `<?xml version="1.0" encoding="UTF-8"?>` + body, "application/xhtml+xml", "Überflutung, данные"},
		{"XML declaration without an encoding", `<?xml version="1.0"?>` + body, "application/xhtml+xml", "Überflutung, данные"},
		{"nothing declared", body, "text/html", "Überflutung, данные"},
		{"XML declaration of Latin-1", `<?xml version='1.0' encoding='ISO-8859-1'?>` + one, "application/xhtml+xml", "Überflutung"},
		{"nothing declared, not UTF-8", one, "text/html", "Überflutung"},
		{"header before declaration", `<?xml version="1.0" encoding="UTF-8"?>` + one, "application/xhtml+xml; charset=iso-8859-1",
			"Überflutung"},
		{"meta", strings.Replace(one, "<head>", `<head><meta charset="windows-1252">`, 1), "text/html", "Überflutung"},
		{"a wrong declaration", `<?xml version="1.0" encoding="UTF-8"?>` + one, "application/xhtml+xml", "Überflutung"},
	} {
		page, err := webpage.Read(strings.NewReader(c.page), webpage.Options{Base: "http://e.example/", ContentType: c.contentType})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if len(page.RDFa) != 1 || page.RDFa[0].O != term.String(c.want) {
			t.Errorf("%s: got %v, want %q", c.name, page.RDFa, c.want)
		}
	}
}
