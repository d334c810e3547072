package loose

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// read returns the root of a document.
func read(t *testing.T, body string) (*Element, error) {
	t.Helper()
	r := NewXMLReader([]byte(body))
	start, _, err := r.Next()
	if err != nil {
		return nil, err
	}
	return r.Element(start)
}

func TestElementsAreFoundByTheirLocalNames(t *testing.T) {
	t.Parallel()
	e,
		err := read(t,
		`<?xml version="1.0" encoding="ISO-8859-1"?><a:x xmlns:a="u"><a:y n=" 1 "><b>eins</b></a:y><y><c>zwei&nbsp;</c><b> drei `+
			`</b></y></a:x>`)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, found := range e.All("y/*") {
		texts = append(texts, found.Text())
	}
	if got := strings.Join(texts, ","); got != "eins,zwei,drei" {
		t.Errorf("y/* leads to %q", got)
	}
	if e.First("y").Attr("n") != "1" || e.First("y/b").Text() != "eins" || e.First("z/b").Text() != "" || e.Find("c").Text() != "zwei" ||
		e.All("y/b")[1].Text() != "drei" {
		t.Errorf("%+v", e)
	}
}

func TestForbiddenCharactersAndDepthDoNoHarm(t *testing.T) {
	t.Parallel()
	if e, err := read(t, "<a>x\x00y&#2;z\ufffe</a>"); err != nil || e.Text() != "xyz" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := read(t, strings.Repeat("<a>", 5000)); !errors.Is(err, ErrDeep) {
		t.Errorf("deep nesting: %v", err)
	}
	if _, err := read(t, "<a><b>"); err == nil || err.Error() != "the answer breaks off" {
		t.Errorf("half an element: %v", err)
	}
}

func TestRawIsADocumentOfItsOwn(t *testing.T) {
	t.Parallel()
	r := NewXMLReader([]byte(`<r xmlns="u" xmlns:p="v&amp;"><p:x a="1"><y/></p:x></r>`))
	root, _, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Leave(r.Enter(root))
	start, from, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Element(start); err != nil {
		t.Fatal(err)
	}
	if raw := string(r.Raw(start, from)); raw != `<p:x xmlns:p="v&amp;" xmlns="u" a="1"><y/></p:x>` {
		t.Error(raw)
	}
}

func FuzzElement(f *testing.F) {
	f.Add([]byte(`<a:x xmlns:a="u"><![CDATA[x]]><!-- c --><y n=1>&#1;&copy;</a:x>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := NewXMLReader(body)
		for range 100 {
			start, from, err := r.Next()
			if err != nil {
				break
			}
			if start == nil {
				continue
			}
			e, err := r.Element(start)
			if err != nil {
				break
			}
			e.All("*/*")
			raw := r.Raw(start, from)
			if d := xml.NewDecoder(strings.NewReader(string(raw))); d != nil {
				d.Strict = false
				if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
					var syntax *xml.SyntaxError
					if !errors.As(err, &syntax) {
						t.Errorf("%q: %v", raw, err)
					}
				}
			}
		}
	})
}
