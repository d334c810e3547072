package rdfio

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Detect returns the syntax of a document, given its first bytes (decompressed; a few kilobytes are plenty), its file
// name and its declared media type. Both may be empty. The bytes decide. Between syntaxes that they allow, the declared
// type decides, or the name if there is none. Without either, Detect finds only what is unambiguous. It returns false
// if the document does not look like RDF.
func Detect(head []byte, name, declared string) (Syntax, bool) {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	said, ok := ByMediaType(declared)
	if !ok {
		said, _ = ByExtension(name)
	}
	rest := skipComments(head)
	switch {
	case len(rest) == 0:
		return said, !said.IsZero() // a document without statements
	case rest[0] == '<' || bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.HasPrefix(head, []byte("\xFF\xFE")):
		if s, ok := detectXML(head, said); ok {
			return s, true
		}
	case rest[0] == '{' || rest[0] == '[':
		if s, ok := detectJSON(rest, said); ok {
			return s, true
		}
	}
	s := detectText(rest, said)
	return s, !s.IsZero()
}

func skipComments(b []byte) []byte {
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 || b[0] != '#' {
			return b
		}
		n := bytes.IndexAny(b, "\r\n")
		if n < 0 {
			return nil
		}
		b = b[n:]
	}
}

// detectXML decides by the root element.
func detectXML(head []byte, said Syntax) (Syntax, bool) {
	x := newXMLScanner(bytes.NewReader(head), Options{Limits: Limits{}.withDefaults()})
	for {
		kind, err := x.next()
		if err != nil {
			return Syntax{}, false
		}
		if kind != xmlStart {
			continue
		}
		switch {
		case x.name.space == rdfNS:
			return RDFXML(), true
		case x.name.space == trixNS:
			return TriX(), true
		case said.Is(RDFXML()) && x.name.space != "" && x.name.space != "http://www.w3.org/1999/xhtml":
			return said, true // a typed node as the root element
		}
		return Syntax{}, false
	}
}

// detectJSON decides by the members of objects.
func detectJSON(head []byte, said Syntax) (Syntax, bool) {
	if said.Is(RDFJSON()) || said.Is(JSONLD()) {
		return said, true
	}
	r := NewReader(bytes.NewReader(head), RDFJSON(), Options{})
	if _, err := r.Read(); err == nil {
		return RDFJSON(), true
	}
	j := jsonScanner{in: newInput(bytes.NewReader(head), Options{Limits: Limits{}.withDefaults()}), lim: Limits{}.withDefaults()}
	for {
		k, err := j.next()
		if err != nil || k == jsonEnd {
			return Syntax{}, false
		}
		if k != jsonString {
			continue
		}
		switch string(j.buf) {
		case "@context", "@id", "@graph":
			if k, err = j.next(); err == nil && k == ':' {
				return JSONLD(), true
			}
		}
	}
}

// detectText tries to read head, which may end within a statement, as Turtle and related syntaxes.
func detectText(head []byte, said Syntax) Syntax {
	if !utf8.Valid(head[:len(head)-incomplete(head)]) {
		return Syntax{}
	}
	cut := bytes.LastIndexByte(head, '\n') + 1
	if cut == 0 {
		cut = len(head)
	}
	if lines, named := tryText(NQuads(), head[:cut]); lines.found > 0 && lines.whole {
		switch {
		case named:
			return NQuads()
		case said.Text:
			return said
		}
		return NTriples()
	}
	doc, named := tryText(TriG(), head)
	if doc.whole && said.Text && !named {
		return said
	}
	if doc.found == 0 && !doc.declared || !doc.whole && doc.found < 2 && !doc.declared {
		return Syntax{}
	}
	switch {
	case named:
		return TriG()
	case said.Text && !said.Is(NTriples()) && !said.Is(NQuads()):
		return said
	case opensGraph(head):
		return TriG()
	}
	return Turtle()
}

// attempt is the outcome of reading a document in some syntax.
type attempt struct {
	found    int  // number of statements
	whole    bool // no error
	declared bool // a prefix was declared
}

// tryText reads head. named is true if a statement is in a named graph.
func tryText(s Syntax, head []byte) (a attempt, named bool) {
	r := NewReader(bytes.NewReader(head), s, Options{Base: "http://base.invalid/"})
	for {
		q, err := r.Read()
		if err != nil {
			a.whole = err == io.EOF
			a.declared = len(r.Prefixes()) > 0
			return a, named
		}
		a.found++
		named = named || q.G != ""
	}
}

// opensGraph reports whether a line of head seems to end with the "{" of a graph, for documents that could not be read
// so far.
func opensGraph(head []byte) bool {
	for line := range strings.Lines(string(head)) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, "{") && !strings.HasPrefix(line, "#") && !strings.Contains(line, `"`) {
			return true
		}
	}
	return false
}
