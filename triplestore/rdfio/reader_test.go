package rdfio_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

func TestErrorsSayWhereWhatAndWhatInstead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		syntax rdfio.Syntax
		doc    string
		want   string
	}{
		{rdfio.NTriples(), "<a:b> <c:d> <e:f> .\n<a:b> <c:d>\n",
			`f:2:12: found "\n", expected an object: an IRI, a blank node or a literal`},
		{rdfio.NTriples(), "<a:b> <c:d> \"ü\" \"x\" .\n", `f:1:17: found "\"x\"", expected '.'`},
		{rdfio.NTriples(), "# é\n <a:b> <c d> <e:f> .", `f:2:10: found " d>", expected a character that IRIs may contain, or '>'`},
		{rdfio.NTriples(), "<a:b> <c:d> \"x\\y\" .",
			`f:1:15: found "\\y\"", expected an escape sequence (\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX)`},
		{rdfio.NTriples(), "<a:b> <c> <e:f> .", `f:1:7: found "<c>", expected an absolute IRI`},
		{rdfio.NTriples(), "<a:b> <c:d> \"\xFF\" .", `f:1:14: found "\xff\"", expected UTF-8`},
		{rdfio.NQuads(), "<a:b> <c:d> <e:f> \"g\" .", `f:1:19: found "\"g\"", expected a graph's name or '.'`},
		{rdfio.Turtle(), "@prefix a: <a:> .\r\na:b a:c é:d .", `f:2:9: found "é:d", expected a prefix that has been declared`},
		{rdfio.Turtle(), "<a> <b> <c> <d> .", `f:1:13: found "<d>", expected ',', ';' or '.'`},
		{rdfio.Turtle(), "<a> <b> [ <c> <d> .", `f:1:19: found ".", expected ',', ';' or ']'`},
		{rdfio.Turtle(), "<a> <b> \"\"\"x\ny\"\" .", `f:2:6: found the end of the input, expected three " at the end of a string`},
		{rdfio.Turtle(), "<a> <b> 'x\n' .", `f:1:11: found "\n'", expected ' at the end of a string, or an escaped line break`},
		{rdfio.Turtle(), "<a> <b> 1.e .", `f:1:12: found " .", expected ':' after a prefix`},
		{rdfio.Turtle(), "<a> \"b\" <c> .", `f:1:5: found "\"b\"", expected a predicate: an IRI, a prefixed name or 'a'`},
		{rdfio.TriG(), "<a> { <b> <c> <d> ", `f:1:19: found the end of the input, expected ',', ';', '.' or '}'`},
		{rdfio.TriG(), "GRAPH <a> <b> <c> .", `f:1:11: found "<b>", expected '{'`},
		{rdfio.RDFXML(), "<a xmlns='u:'>\n <b></c></a>", `f:2:5: found "</c></a>", expected </b>`},
		{rdfio.RDFXML(), "<x:a/>", `f:1:7: the namespace prefix "x" is not declared`},
		{rdfio.RDFXML(), "<a xmlns='u:'>&b;</a>", `f:1:15: found "&b;</a>", expected an entity that has been declared`},
		{rdfio.RDFXML(), `<a xmlns='u:'><b c="d"/></a>`, `f:1:25: the attribute c has no namespace`},
		{rdfio.TriX(), `<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple><id>a</id></triple>`,
			`f:1:88: a triple of 1 terms`},
		{rdfio.RDFJSON(), "{\"a:b\":\n {\"c:d\": [5]}}", `f:2:11: found "5]}}", expected an object or ']'`},
		{rdfio.JSONLD(), "{\"@id\": \"a:b\",\n 5}", `f:2:2: found "5}", expected a member's name or '}'`},
		{rdfio.JSONLD(), `{"@context": "http://example.org/ctx"}`,
			`f:1:1: loading remote context failed: dereferencing a URL did not result in a valid JSON-LD context ` +
				`(http://example.org/ctx): the context <http://example.org/ctx> is not part of the document`},
	} {
		_, err := readAll(rdfio.NewReader(strings.NewReader(c.doc), c.syntax, rdfio.Options{File: "f", Base: "http://example.org/"}))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %q:\ngot  %v\nwant %s", c.syntax, c.doc, err, c.want)
		}
	}
}

func TestStatementsBeforeAnErrorAreHandedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		syntax rdfio.Syntax
		doc    string
		want   int
	}{
		{rdfio.NTriples(), "<a:b> <c:d> <e:f> .\n<a:b> <c:d> \"1\" .\nx", 2},
		{rdfio.Turtle(), "<a:b> <c:d> <e:f> , 1 , [ <g:h> 2 , x ] .", 4},
		{rdfio.RDFXML(), `<r xmlns="u:"><p>x</p><p>y</p>`, 3},
		{rdfio.RDFJSON(), `{"a:b": {"c:d": [{"type": "literal", "value": "x"}, {"type": "uri", "value": "e:f"}, 7`, 2},
	} {
		got, err := parse(c.syntax, c.doc)
		if err == nil || len(got) != c.want {
			t.Errorf("%s: %d statements, want %d; %v", c.syntax, len(got), c.want, err)
		}
	}
}

func TestSkipGoesOnBehindTheBrokenStatement(t *testing.T) {
	t.Parallel()
	const good = "<http://a/s> <http://a/p> <http://a/o%d> .\n"
	for _, s := range []rdfio.Syntax{rdfio.NTriples(), rdfio.NQuads(), rdfio.Turtle(), rdfio.TriG()} {
		doc := fmt.Sprintf(good, 1) + "<http://a/s> <broken here> 1 .\n" + fmt.Sprintf(good, 2) + "nonsense .\n" + fmt.Sprintf(good, 3) +
			"<http://a/s> <http://a/p>"
		r := rdfio.NewReader(strings.NewReader(doc), s, rdfio.Options{})
		var got []string
		var faults []int
		for {
			q, err := r.Read()
			if err == io.EOF {
				break
			}
			var at *rdfio.Error
			if errors.As(err, &at) {
				faults = append(faults, at.Line)
				if _, again := r.Read(); again != err {
					t.Errorf("%s: the error does not repeat: %v", s, again)
				}
				if !r.Skip() {
					break
				}
				continue
			}
			got = append(got, q.O.Value())
		}
		if fmt.Sprint(got) != "[http://a/o1 http://a/o2 http://a/o3]" || fmt.Sprint(faults) != "[2 4 6]" {
			t.Errorf("%s: read %v, faults in lines %v", s, got, faults)
		}
	}
	r := rdfio.NewReader(strings.NewReader("<a"), rdfio.RDFXML(), rdfio.Options{})
	if _, err := r.Read(); err == nil || r.Skip() {
		t.Error("skipped in RDF/XML")
	}
}

func TestWhatTheReaderBelowFailsWithComesThrough(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is on fire")
	for _, s := range rdfio.Syntaxes() {
		doc := encode(t, s, sample(s.Quads))
		for _, n := range []int{0, 1, 10, len(doc) / 2, len(doc) - 3} {
			in := io.MultiReader(strings.NewReader(string(doc[:n])), iotest.ErrReader(broken))
			r := rdfio.NewReader(in, s, rdfio.Options{})
			_, err := readAll(r)
			if !errors.Is(err, broken) {
				t.Errorf("%s after %d bytes: %v", s, n, err)
			}
			if r.Skip() {
				t.Errorf("%s: skipped a failed read", s)
			}
		}
	}
}

func TestSmallReadsMakeNoDifference(t *testing.T) {
	t.Parallel()
	for _, s := range rdfio.Syntaxes() {
		doc := encode(t, s, archiveQuads(500))
		want, err := readAll(rdfio.NewReader(strings.NewReader(string(doc)), s, rdfio.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string]io.Reader{
			"a byte at a time": iotest.OneByteReader(strings.NewReader(string(doc))),
			"halves":           iotest.HalfReader(strings.NewReader(string(doc))),
			"data with EOF":    iotest.DataErrReader(strings.NewReader(string(doc))),
		} {
			got, err := readAll(rdfio.NewReader(in, s, rdfio.Options{}))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %d statements of %d, %v", s, name, len(got), len(want), err)
			}
		}
	}
}

func TestLimitsHold(t *testing.T) {
	t.Parallel()
	lim := rdfio.Limits{Token: 10_000, Depth: 50, Prefixes: 5, Document: 20_000}
	long, deep := strings.Repeat("x", 11_000), 60
	var laughs strings.Builder
	laughs.WriteString(`<!DOCTYPE r [<!ENTITY a0 "ha ha ha ha ha ha ha ha">`)
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&laughs, `<!ENTITY a%d "%s">`, i, strings.Repeat(fmt.Sprintf("&a%d;", i-1), 10))
	}
	laughs.WriteString(`]><r xmlns="u:"><p>&a19;</p></r>`)
	for _, c := range []struct {
		name   string
		syntax rdfio.Syntax
		doc    string
	}{
		{"a long line", rdfio.NTriples(), "<a:b> <c:d> \"" + long + "\" ."},
		{"a long comment", rdfio.NQuads(), "# " + long},
		{"a long IRI", rdfio.Turtle(), "<a:" + long + "> <c:d> 1 ."},
		{"a long name", rdfio.Turtle(), "@prefix a: <b:> . a:" + long + " <c:d> 1 ."},
		{"a long prefix", rdfio.Turtle(), "@prefix " + long + ": <b:> ."},
		{"a long label", rdfio.Turtle(), "_:" + long + " <c:d> 1 ."},
		{"a long number", rdfio.Turtle(), "<a:b> <c:d> " + strings.Repeat("1", 11_000) + " ."},
		{"a long string", rdfio.Turtle(), "<a:b> <c:d> '" + long + "' ."},
		{"a very long string", rdfio.TriG(), "<a:b> <c:d> '''" + strings.Repeat("x\n", 9000) + "''' ."},
		{"a long language tag", rdfio.Turtle(), "<a:b> <c:d> 'x'@" + long + " ."},
		{"brackets in brackets", rdfio.Turtle(), "<a:b> <c:d> " + strings.Repeat("[ <c:d> ", deep)},
		{"lists in lists", rdfio.TriG(), "<a:b> <c:d> " + strings.Repeat("( ", deep)},
		{"many prefixes", rdfio.Turtle(),
			"@prefix a: <b:> . @prefix b: <b:> . @prefix c: <b:> . @prefix d: <b:> . @prefix e: <b:> . @prefix f: <b:> ."},
		{"a long element name", rdfio.RDFXML(), "<" + long + ">"},
		{"a long attribute", rdfio.RDFXML(), "<a b='" + long + "'>"},
		{"a long text", rdfio.RDFXML(), "<a xmlns='u:'><p>" + long + "</p></a>"},
		{"a long XML literal", rdfio.RDFXML(),
			`<a xmlns="u:"><p r:parseType="Literal" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` + strings.Repeat("<q/>", 3000) +
				"</p></a>"},
		{"elements in elements", rdfio.RDFXML(), strings.Repeat("<a xmlns='u:'>", deep)},
		{"entities of entities", rdfio.RDFXML(), laughs.String()},
		{"one entity often", rdfio.RDFXML(),
			`<!DOCTYPE r [<!ENTITY a "` + strings.Repeat("x", 900) + `">]><r xmlns="u:">` + strings.Repeat("<p>&a;</p>", 20) + "</r>"},
		{"a long text", rdfio.TriX(), `<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple><id>` + long},
		{"a long string", rdfio.RDFJSON(), `{"a:` + long + `"`},
		{"a long string", rdfio.JSONLD(), `{"a:` + long + `"`},
		{"a long document", rdfio.JSONLD(), `{"a:b": [` + strings.Repeat(`"x",`, 6000) + `"x"]}`},
		{"objects in objects", rdfio.JSONLD(), strings.Repeat(`{"a:b":`, deep)},
		{"lists in lists", rdfio.JSONLD(), strings.Repeat(`[`, deep)},
	} {
		_, err := readAll(rdfio.NewReader(strings.NewReader(c.doc), c.syntax, rdfio.Options{Limits: lim, Base: "http://b/"}))
		var at *rdfio.Error
		if !errors.Is(err, rdfio.ErrLimit) || !errors.As(err, &at) {
			t.Errorf("%s in %s: %v", c.name, c.syntax, err)
		}
	}
}

func TestAnExpansionLargerThanItsDocumentIsRefused(t *testing.T) {
	t.Parallel()
	vocab := `{"@context": {"@vocab": "http://a/` + strings.Repeat("x", 1<<20) + `"}, "a": [` + strings.Repeat("{},", 10_000) + `{}]}`
	var chain strings.Builder
	chain.WriteString(`{"@context": {"t0": "http://a/#"`)
	for i := 1; i < 900; i++ {
		fmt.Fprintf(&chain, `, "t%d": {"@id": "t%d:%s#", "@prefix": true}`, i, i-1, strings.Repeat("x", 1000))
	}
	chain.WriteString(`}, "a": [` + strings.Repeat("{},", 10_000) + `{}]}`)
	var contexts strings.Builder
	contexts.WriteString(`{"@context": {"a": "b:c"`)
	for i := range 5000 {
		fmt.Fprintf(&contexts, `, "t%d": "u:%d"`, i, i)
	}
	contexts.WriteString(`}, "a": [` + strings.Repeat(`{"@context": {}},`, 50_000) + `{}]}`)
	for name, doc := range map[string]string{"a long vocabulary": vocab, "a chain of terms": chain.String(),
		"many contexts": contexts.String()} {
		if _, err := parse(rdfio.JSONLD(), doc); !errors.Is(err, rdfio.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless returns the same bytes again and again and counts them.
type endless struct {
	piece string
	n     int64
	max   int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n >= e.max {
		return 0, io.EOF
	}
	n := copy(p, e.piece[e.n%int64(len(e.piece)):])
	for n < len(p) {
		n += copy(p[n:], e.piece)
	}
	e.n += int64(n)
	return n, nil
}

func TestMemoryDoesNotGrowWithTheDocument(t *testing.T) {
	for name, c := range map[string]struct {
		syntax      rdfio.Syntax
		head, piece string
	}{
		"N-Triples":       {rdfio.NTriples(), "", "<http://a/s> <http://a/p> \"o\" .\n"},
		"one subject":     {rdfio.Turtle(), "<http://a/s> <http://a/p> 0", ", 12345"},
		"one list":        {rdfio.Turtle(), "<http://a/s> <http://a/p> (", " 12345 "},
		"one graph":       {rdfio.TriG(), "<http://a/g> {", "<http://a/s> <http://a/p> 1 . "},
		"comments":        {rdfio.Turtle(), "", "# nothing \n"},
		"RDF/XML":         {rdfio.RDFXML(), `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="u:">`, "<a><p>x</p></a>"},
		"one description": {rdfio.RDFXML(), `<a xmlns="u:">`, "<p>x</p>"},
		"RDF/JSON":        {rdfio.RDFJSON(), `{"a:b":{"c:d":[{"type":"literal","value":"x"}`, `,{"type":"literal","value":"x"}`},
		"TriX": {rdfio.TriX(), `<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph>`,
			"<triple><id>a</id><uri>b:c</uri><id>d</id></triple>"},
	} {
		t.Run(name, func(t *testing.T) {
			in := &endless{piece: c.piece, max: 8 << 20}
			r := rdfio.NewReader(io.MultiReader(strings.NewReader(c.head), in), c.syntax, rdfio.Options{})
			most, n := uint64(0), 0
			var m runtime.MemStats
			for ; ; n++ {
				if _, err := r.Read(); err != nil {
					break
				}
				if n%50_000 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&m)
					if n == 0 {
						most = m.HeapAlloc + 4<<20
					}
					if m.HeapAlloc > most {
						t.Fatalf("after %d statements the heap holds %d bytes", n, m.HeapAlloc)
					}
				}
			}
			if name != "comments" && n < 50_000 || in.n < in.max {
				t.Errorf("ended after %d statements and %d bytes", n, in.n)
			}
		})
	}
}

func TestBlankNodesOfDifferentFilesDoNotMeet(t *testing.T) {
	t.Parallel()
	seen := map[term.Key]bool{}
	for _, s := range rdfio.Syntaxes() {
		prefix := rdfio.NewBlankPrefix()
		doc := encode(t, s, []term.Quad{{S: term.Blank("x"), P: term.IRI("a:b"), O: term.Blank("y")}})
		quads, err := readAll(rdfio.NewReader(strings.NewReader(string(doc)), s, rdfio.Options{BlankPrefix: prefix}))
		if err != nil || len(quads) != 1 || !strings.HasPrefix(quads[0].S.Value(), prefix) {
			t.Errorf("%s: %v, %v", s, quads, err)
			continue
		}
		for _, k := range []term.Key{quads[0].S, quads[0].O} {
			if seen[k] {
				t.Errorf("%s: %q again", s, k)
			}
			seen[k] = true
		}
	}
}

func TestBlankNodesWithoutALabelNeverMeetThoseWithOne(t *testing.T) {
	t.Parallel()
	quads, err := parse(rdfio.Turtle(), `_:g-1 <a:b> _:g--1 , _:g---1 , _:g-2 , [] , [] , ( 1 ) , _:g- , _:g-x .`)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[term.Key]bool{quads[0].S: true}
	for _, q := range quads {
		if q.P == term.IRI("a:b") {
			if objects[q.O] {
				t.Errorf("%q means two nodes", q.O)
			}
			objects[q.O] = true
		}
	}
}

func TestFaultyOptionsAreToldByRead(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]rdfio.Options{"base": {Base: "not absolute"}, "prefix": {BlankPrefix: "a b"}} {
		if _, err := rdfio.NewReader(strings.NewReader(""), rdfio.Turtle(), o).Read(); err == nil || err == io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rdfio.NewReader(strings.NewReader(""), rdfio.Syntax{}, rdfio.Options{}).Read(); err == nil || err == io.EOF {
		t.Errorf("no syntax: %v", err)
	}
}

func TestPrefixesOfADocumentCanBeAskedFor(t *testing.T) {
	t.Parallel()
	r := rdfio.NewReader(strings.NewReader("@prefix a: <b:> . PREFIX : <http://c/> a:x a :y ."), rdfio.Turtle(), rdfio.Options{})
	for _, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Prefixes(); len(got) != 2 || got["a"] != "b:" || got[""] != "http://c/" {
		t.Errorf("got %v", got)
	}
}

func TestN3IsReadAsFarAsItIsTurtle(t *testing.T) {
	t.Parallel()
	quads, err := parse(rdfio.N3(), "@prefix a: <http://a/> . a:b = a:c ; a a:D .")
	if err != nil || len(quads) != 2 || quads[0].P != term.IRI("http://www.w3.org/2002/07/owl#sameAs") {
		t.Errorf("%q, %v", quads, err)
	}
	for _, doc := range []string{"{ <a:b> <c:d> 1 } => { <a:b> <c:d> 2 } .", "<a:b> => <c:d> .", "<a:b> <c:d> ?x .",
		"<a:b> is <c:d> of <e:f> .", "<a:b>!<c:d> <e:f> 1 ."} {
		if quads, err := parse(rdfio.N3(), doc); err == nil {
			t.Errorf("%s: %q", doc, quads)
		}
	}
	if _, err := parse(rdfio.Turtle(), "<a:b> = <c:d> ."); err == nil {
		t.Error("Turtle has =")
	}
}

func TestXMLComesInManyEncodings(t *testing.T) {
	t.Parallel()
	const doc = `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="u:"><r:Description ` +
		`r:about="a:b"><p>%s</p></r:Description></r:RDF>`
	utf16le := func(s string) string {
		var b strings.Builder
		b.WriteString("\xFF\xFE")
		for _, r := range s {
			b.WriteByte(byte(r))
			b.WriteByte(byte(r >> 8))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"plain":     fmt.Sprintf(doc, "ü"),
		"a BOM":     "\xEF\xBB\xBF" + fmt.Sprintf(doc, "ü"),
		"declared":  `<?xml version="1.0" encoding="UTF-8"?>` + fmt.Sprintf(doc, "ü"),
		"Latin 1":   `<?xml version="1.0" encoding="ISO-8859-1"?>` + fmt.Sprintf(doc, "\xFC"),
		"Windows":   `<?xml version='1.0' encoding='windows-1252' standalone='yes'?>` + fmt.Sprintf(doc, "\xFC"),
		"UTF-16":    utf16le(`<?xml version="1.0" encoding="UTF-16"?>` + fmt.Sprintf(doc, "ü")),
		"by number": fmt.Sprintf(doc, "&#xFC;"),
		"by entity": `<!DOCTYPE r:RDF [<!-- ]> --><!ENTITY u "&#252;"><!ENTITY % p "x"><!ENTITY ext SYSTEM "file:///etc/passwd">]>` +
			fmt.Sprintf(doc, "&u;"),
		"as characters": fmt.Sprintf(doc, "<![CDATA[ü]]>"),
	} {
		quads, err := parse(rdfio.RDFXML(), text)
		if err != nil || len(quads) != 1 || quads[0].O != term.String("ü") {
			t.Errorf("%s: %q, %v", name, quads, err)
		}
	}
	for name, text := range map[string]string{
		"an unknown encoding":  `<?xml version="1.0" encoding="x-nothing"?>` + fmt.Sprintf(doc, "x"),
		"an external entity":   `<!DOCTYPE r:RDF [<!ENTITY ext SYSTEM "file:///etc/passwd">]>` + fmt.Sprintf(doc, "&ext;"),
		"an entity of markup":  `<!DOCTYPE r:RDF [<!ENTITY m "<p>x</p>">]>` + fmt.Sprintf(doc, "&m;"),
		"a control character":  fmt.Sprintf(doc, "\x01"),
		"one by number":        fmt.Sprintf(doc, "&#1;"),
		"Latin 1 without note": fmt.Sprintf(doc, "\xFC"),
	} {
		if quads, err := parse(rdfio.RDFXML(), text); err == nil {
			t.Errorf("%s: %q", name, quads)
		}
	}
}
