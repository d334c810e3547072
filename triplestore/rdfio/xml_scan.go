package rdfio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// xmlScanner splits XML 1.0 with namespaces into tags and text, as far as RDF in XML needs it: documents must be
// well-formed, general entities of the internal subset are expanded, nothing is validated, and external entities are
// never read. encoding/xml is no alternative, since it neither bounds tokens nor rejects undeclared prefixes.
type xmlScanner struct {
	in  *input
	lim Limits

	kind  xmlKind
	name  *xmlName  // of the element, at its start and end
	attrs []xmlAttr // of a start tag, without xmlns declarations
	text  []byte    // of text, a comment, or a processing instruction; valid until the next call
	mixed bool      // of text: contains other characters than white space

	open     []xmlOpen
	selfEnd  bool // the last start tag was an empty-element tag
	rootSeen bool
	started  bool
	ns       []xmlBinding
	names    map[string]*xmlName // by spelling, resolved in the namespaces in scope
	strings  map[string]string   // interned spellings of names
	pending  []rawAttr
	entities map[string]string
	expanded int // bytes of text that entities made so far
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

// xmlOpen is an open element.
type xmlOpen struct {
	raw  string
	name *xmlName
	ns   int // length of xmlScanner.ns outside it
}

func newXMLScanner(r io.Reader, o Options) *xmlScanner {
	return &xmlScanner{in: newInput(decodeXMLCharset(r), o), lim: o.Limits, names: map[string]*xmlName{}, strings: map[string]string{},
		ns: []xmlBinding{{"xml", xmlNS}, {"", ""}}}
}

// next reads the next tag, text, comment or processing instruction and returns its kind. At the end of a complete
// document it returns io.EOF.
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
			skipped, err := x.markup()
			if err != nil || !skipped {
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

// missing names what the document lacks here.
func (x *xmlScanner) missing() string {
	switch {
	case len(x.open) > 0:
		return "</" + x.open[len(x.open)-1].raw + ">"
	case !x.rootSeen:
		return "an element"
	}
	return "nothing after the root element"
}

// declaration consumes a byte order mark and <?xml ... ?>, whose encoding decodeXMLCharset has read.
func (x *xmlScanner) declaration() error {
	x.in.skipByteOrderMark()
	if !x.in.hasPrefix("<?xml") || terminals.Class[x.in.at(5)]&terminals.Space == 0 {
		return nil
	}
	_, err := x.until("?>", 5, "'?>'")
	return err
}

// markup reads a tag, comment, processing instruction, CDATA section or DOCTYPE. It returns true for a DOCTYPE, which
// readers skip.
func (x *xmlScanner) markup() (skipped bool, err error) {
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
	case x.in.hasPrefix("<!--"):
		x.kind = xmlComment
		if x.text, err = x.until("--", 4, "'-->'"); err == nil {
			if x.in.peek() != '>' {
				return false, x.in.fail(0, "'>' after '--' in a comment")
			}
			x.in.pos++
			err = x.checkChars(x.text)
		}
		return false, err
	case x.in.hasPrefix("<![CDATA[") && len(x.open) > 0:
		x.kind = xmlText
		if x.text, err = x.until("]]>", 9, "']]>'"); err != nil {
			return false, err
		}
		x.text = newlines(x.text)
		x.mixed = len(bytes.TrimLeft(x.text, " \t\r\n")) > 0
		return false, x.checkChars(x.text)
	case x.in.hasPrefix("<!DOCTYPE") && !x.rootSeen:
		return true, x.doctype()
	}
	return false, x.in.fail(0, "an element, a comment or %s", x.missing())
}

// until consumes n bytes and everything up to and including mark, and returns the bytes between. They are valid until
// the next read. The input must not end before mark; expected names what is missing then.
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
		return x.in.failWith(0, errors.New("malformed processing instruction"))
	}
	return x.checkChars(x.text)
}

// checkChars returns an error if b contains characters that XML does not allow (XML 1.0 §2.2). b comes just before the
// position of the input.
func (x *xmlScanner) checkChars(b []byte) error {
	ascii := true
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return x.in.failWith(0, fmt.Errorf("the control character %U is not allowed in XML", c))
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return nil
	}
	if !utf8.Valid(b) {
		return x.in.failWith(0, errors.New("invalid UTF-8"))
	}
	if bytes.Contains(b, []byte("\uFFFE")) || bytes.Contains(b, []byte("\uFFFF")) {
		return x.in.failWith(0, errors.New("U+FFFE and U+FFFF are not allowed in XML"))
	}
	return nil
}

// newlines replaces CR and CRLF by LF (XML 1.0 §2.11).
func newlines(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (x *xmlScanner) startTag() error {
	if len(x.open) == 0 && x.rootSeen {
		return x.in.fail(0, "%s", x.missing())
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

// intern returns b as a string, the same one for each spelling.
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

// maxNames bounds the number of interned names.
const maxNames = 10_000

func (x *xmlScanner) endTag() error {
	if len(x.open) == 0 {
		return x.in.fail(0, "an element")
	}
	raw := x.open[len(x.open)-1].raw
	n := len(raw) + 2
	if !x.in.hasPrefix("</" + raw) {
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

// end closes the innermost element.
func (x *xmlScanner) end() {
	o := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	if len(x.ns) > o.ns {
		x.ns = x.ns[:o.ns]
		clear(x.names)
	}
	x.kind, x.name, x.attrs = xmlEnd, o.name, x.attrs[:0]
}
