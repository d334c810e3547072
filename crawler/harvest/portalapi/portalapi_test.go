package portalapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portaltest"
)

func TestWhatCameInsteadOfJSONIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"<!DOCTYPE html><html><head><title>Sign in\n please</title></head>", `a web page ("Sign in please")`},
		{"  <html><body><form><input name=p type='password'></form>", "a login page"},
		{"\xef\xbb\xbf<HTML>", "a web page"},
		{"<!doctype html><title>" + strings.Repeat("x", 300) + "</title>", "a web page"},
		{"<!doctype html><title", "a web page"},
		{`{"a":1}`, ""},
		{"", ""},
	} {
		if got := WebPage([]byte(c.body)); got != c.want {
			t.Errorf("%q is %q, want %q", c.body, got, c.want)
		}
	}
}

func TestPlacesInTheSpellingsOfPortals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`"6.5735,46.3912,6.6069,46.4028"`, "[{   [6.5735 46.3912 6.6069 46.4028]}]"},
		{`[-79.1, 51.2, -20, 60]`, "[{   [-79.1 51.2 -20 60]}]"},
		{`"ENVELOPE(-10, 20, 60, 40)"`, "[{   [-10 40 20 60]}]"},
		{`{"minx":"1","miny":"2","maxx":"3","maxy":"4"}`, "[{   [1 2 3 4]}]"},
		{`{"bbox":{"type":"Polygon","coordinates":[]},"text":"Wien"}`, `[{ Wien {"type":"Polygon","coordinates":[]} []}]`},
		{`"{\"type\": \"Point\", \"coordinates\": [1, 2]}"`, `[{  {"type":"Point","coordinates":[1,2]} []}]`},
		{`"POINT (1 2)"`, "[{  POINT (1 2) []}]"},
		{`"SRID=4326;POINT (1 2)"`, "[{  SRID=4326;POINT (1 2) []}]"},
		{`["http://a.example/x", "Multiple counties"]`, "[{http://a.example/x   []} { Multiple counties  []}]"},
		{`"1,2,3"`, "[{ 1,2,3  []}]"},
		{`"200,2,3,4"`, "[{ 200,2,3,4  []}]"},
		{`null`, "[]"}, {`{}`, "[]"}, {`[[]]`, "[]"}, {`{"type":"Point"}`, "[]"},
	} {
		if got := fmt.Sprint(Places(parse(t, c.in))); got != c.want {
			t.Errorf("%s is %s, want %s", c.in, got, c.want)
		}
	}
}

func TestTextsInSeveralLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`"x"`, "[{x }]"},
		{`{"de":"a","pt_BR":"b","fr-t-en":"c","":"d","nonsense":"e","it":""}`, "[{a de} {b pt-BR} {c fr}]"},
		{`{"en":["a","b"]}`, "[{a en} {b en}]"},
		{`[{"@value":"a","@language":"en"},{"@value":"a","@language":"en"},"a",{"name":"n","display_name":{"de":"N"}}]`,
			"[{a en} {a } {N de}]"},
		{`"{\"de\": \"a\"}"`, "[{a de}]"},
		{`"<p>One &amp; <b>two</b></p><p>three</p>"`, "[{One & two\nthree }]"},
		{`"a < b and {c}"`, "[{a < b and {c} }]"},
	} {
		if got := fmt.Sprint(Texts(parse(t, c.in))); got != c.want {
			t.Errorf("%s is %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRootsOfPortals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, iri string }{
		{"https://data.example", "https://data.example", "https://data.example/"},
		{"https://data.example/?q=1#x", "https://data.example", "https://data.example/"},
		{"http://a.example/katalog/api/3/action/package_list", "http://a.example/katalog", "http://a.example/katalog"},
		{"http://a.example/apis/", "http://a.example/apis", "http://a.example/apis"},
	} {
		got, err := Root(c.in, "/api", "/dataset")
		if err != nil || got != c.want || IRI(got) != c.iri {
			t.Errorf("%s: %s, %s, %v", c.in, got, IRI(got), err)
		}
	}
	for _, in := range []string{"", "data.example", "ftp://a.example/", "http://", "::"} {
		if got, err := Root(in); err == nil {
			t.Errorf("%q is taken for an address: %s", in, got)
		}
	}
}

func TestAStreamIsUTF8WhateverItDeclares(t *testing.T) {
	t.Parallel()
	web := &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, "{\"title\":\"Z\xfcrich und Gen\xe8ve, die St\xe4dte\"}")
	})}
	body, _, err := Open(t.Context(), web, "http://a.example/data.json", "")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != `{"title":"Zürich und Genève, die Städte"}` {
		t.Fatalf("%q, %v", text, err)
	}
}

func parse(t *testing.T, s string) loose.Value {
	t.Helper()
	v, err := loose.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
