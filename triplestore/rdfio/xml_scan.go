package rdfio

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// xmlScanner takes XML 1.0 with namespaces apart, as far as RDF in XML needs it: well-formed documents, entities of the
// internal subset without parameter entities, no validation, nothing from outside. It exists because encoding/xml neither
// bounds a token nor tells an undeclared prefix from a namespace.
type xmlScanner struct {
	in  *input
	lim Limits

	kind  xmlKind
	name  *xmlName  // of an element
	attrs []xmlAttr // of a start, without xmlns declarations
	text  []byte    // of text, a comment, or a processing instruction; valid until the next call
	mixed bool      // text: holds something other than white space

	open     []xmlOpen
	selfEnd  bool // the start that was told last ends itself
	rootSeen bool
	started  bool
	ns       []xmlBinding
	names    map[string]*xmlName // resolved in the namespaces in scope
	strings  map[string]string   // every name as written, once
	pending  []rawAttr
	entities map[string]string
	expanded int // bytes that entities have put into the document
	raw      []byte
}

type xmlKind byte

const (
	xmlEnd xmlKind = iota + 1
	xmlStart
	xmlText
	xmlComment
	xmlPI
)

// xmlOpen is an element whose end is still to come.
type xmlOpen struct {
	raw  string
	name *xmlName
	ns   int // length of xmlScanner.ns outside of it
}

func newXMLScanner(r io.Reader, o Options) *xmlScanner {
	return &xmlScanner{in: newInput(decodeXMLCharset(r), o), lim: o.Limits, names: map[string]*xmlName{}, strings: map[string]string{},
		ns: []xmlBinding{{"xml", xmlNS}, {"", ""}}}
}

// next goes to the next piece and returns its kind; io.EOF is the end of a complete document.
func (x *xmlScanner) next() (xmlKind, error) {
	err := x.advance()
	if err != nil {
		x.kind = 0
	}
	return x.kind, err
}

func (x *xmlScanner) advance() error {
	if x.selfEnd {
		x.selfEnd = false
		x.end()
		return nil
	}
	if !x.started {
		x.started = true
		if err := x.declaration(); err != nil {
			return err
		}
	}
	for {
		switch c := x.in.peek(); {
		case c == '<':
			again, err := x.markup()
			if err != nil || !again {
				return err
			}
		case len(x.open) > 0 && !x.in.atEnd():
			return x.characters()
		case x.in.atEnd():
			if x.in.failure() != nil || len(x.open) > 0 || !x.rootSeen {
				return x.in.fail(0, "%s", x.missing())
			}
			return io.EOF
		case terminals.Class[c]&terminals.Space != 0:
			x.in.pos++
		default:
			return x.in.fail(0, "%s", x.missing())
		}
	}
}

func (x *xmlScanner) missing() string {
	switch {
	case len(x.open) > 0:
		return "</" + x.open[len(x.open)-1].raw + ">"
	case !x.rootSeen:
		return "an element"
	}
	return "nothing behind the root element"
}

// declaration consumes <?xml ... ?>; its encoding has been dealt with before.
func (x *xmlScanner) declaration() error {
	if x.in.has(3) && string(x.in.buf[x.in.pos:x.in.pos+3]) == "\xEF\xBB\xBF" {
		x.in.pos += 3
	}
	if !x.in.has(6) || string(x.in.buf[x.in.pos:x.in.pos+5]) != "<?xml" || terminals.Class[x.in.at(5)]&terminals.Space == 0 {
		return nil
	}
	_, err := x.until("?>", 5, "'?>'")
	return err
}

// markup reads what begins with '<'. It returns true for what tells the reader nothing (a DOCTYPE).
func (x *xmlScanner) markup() (again bool, err error) {
	switch c := x.in.at(1); {
	case c == '/':
		return false, x.endTag()
	case c == '?':
		x.kind = xmlPI
		x.text, err = x.until("?>", 2, "'?>'")
		if err == nil {
			err = x.checkPI()
		}
		return false, err
	case c != '!':
		return false, x.startTag()
	case x.has("<!--"):
		x.kind = xmlComment
		if x.text, err = x.until("--", 4, "'-->'"); err == nil {
			if x.in.peek() != '>' {
				return false, x.in.fail(0, "'>' behind '--' in a comment")
			}
			x.in.pos++
			err = x.checkChars(x.text)
		}
		return false, err
	case x.has("<![CDATA[") && len(x.open) > 0:
		x.kind = xmlText
		if x.text, err = x.until("]]>", 9, "']]>'"); err != nil {
			return false, err
		}
		x.text = newlines(x.text)
		x.mixed = len(bytes.TrimLeft(x.text, " \t\r\n")) > 0
		return false, x.checkChars(x.text)
	case x.has("<!DOCTYPE") && !x.rootSeen:
		return true, x.doctype()
	}
	return false, x.in.fail(0, "an element, a comment or %s", x.missing())
}

func (x *xmlScanner) has(s string) bool {
	return x.in.has(len(s)) && string(x.in.buf[x.in.pos:x.in.pos+len(s)]) == s
}

// until consumes n bytes and everything up to and including mark, and returns what is between. The result is valid until
// the next read.
func (x *xmlScanner) until(mark string, n int, expected string) ([]byte, error) {
	in := x.in
	for from := n; ; {
		if i := bytes.Index(in.buf[min(in.pos+from, in.end):in.end], []byte(mark)); i >= 0 {
			b := in.buf[in.pos+n : in.pos+from+i]
			in.pos += from + i + len(mark)
			return b, nil
		}
		from = max(n, in.end-in.pos-len(mark)+1)
		if !in.fill() {
			return nil, in.fail(in.end-in.pos, "%s", expected)
		}
	}
}

func (x *xmlScanner) checkPI() error {
	n := 0
	for n < len(x.text) && terminals.Class[x.text[n]]&terminals.Space == 0 {
		n++
	}
	if n == 0 || bytes.EqualFold(x.text[:n], []byte("xml")) || !isNCName(string(x.text[:n])) {
		return x.in.failWith(0, fmt.Errorf("malformed processing instruction"))
	}
	return x.checkChars(x.text)
}

// checkChars refuses what XML cannot hold (XML 1.0 §2.2). b lies just before the input's position.
func (x *xmlScanner) checkChars(b []byte) error {
	ascii := true
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return x.in.failWith(0, fmt.Errorf("the control character %U, which XML does not allow", c))
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return nil
	}
	if !utf8.Valid(b) {
		return x.in.failWith(0, fmt.Errorf("invalid UTF-8"))
	}
	if bytes.Contains(b, []byte("\uFFFE")) || bytes.Contains(b, []byte("\uFFFF")) {
		return x.in.failWith(0, fmt.Errorf("U+FFFE or U+FFFF, which XML does not allow"))
	}
	return nil
}

// newlines is XML's end-of-line handling (XML 1.0 §2.11).
func newlines(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (x *xmlScanner) startTag() error {
	if len(x.open) == 0 && x.rootSeen {
		return x.in.fail(0, "nothing behind the root element")
	}
	if len(x.open) >= x.lim.Depth {
		return x.in.failWith(0, limitError("a nesting", int64(x.lim.Depth)))
	}
	x.rootSeen = true
	n, err := x.nameLen(1)
	if err != nil {
		return err
	}
	o := xmlOpen{raw: x.intern(x.in.buf[x.in.pos+1 : x.in.pos+1+n]), ns: len(x.ns)}
	x.in.pos += 1 + n
	if err := x.attributes(&o); err != nil {
		return err
	}
	if o.name, err = x.resolve(o.raw, true); err != nil {
		return err
	}
	x.open = append(x.open, o)
	x.kind, x.name = xmlStart, o.name
	return nil
}

// intern keeps one string for each name as written.
func (x *xmlScanner) intern(b []byte) string {
	s, known := x.strings[string(b)]
	if !known {
		if len(x.strings) >= maxNames {
			clear(x.strings)
			clear(x.names)
		}
		s = string(b)
		x.strings[s] = s
	}
	return s
}

// maxNames bounds the memory for names seen.
const maxNames = 10_000

func (x *xmlScanner) endTag() error {
	if len(x.open) == 0 {
		return x.in.fail(0, "an element")
	}
	raw := x.open[len(x.open)-1].raw
	n := len(raw) + 2
	if !x.in.has(n) || string(x.in.buf[x.in.pos+2:x.in.pos+n]) != raw {
		return x.in.fail(0, "%s", x.missing())
	}
	for terminals.Class[x.in.at(n)]&terminals.Space != 0 {
		n++
	}
	if x.in.at(n) != '>' {
		return x.in.fail(0, "%s", x.missing())
	}
	x.in.pos += n + 1
	x.end()
	return nil
}

func (x *xmlScanner) end() {
	o := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	if len(x.ns) > o.ns {
		x.ns = x.ns[:o.ns]
		clear(x.names)
	}
	x.kind, x.name, x.attrs = xmlEnd, o.name, x.attrs[:0]
}
