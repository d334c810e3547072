package rdfio

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"odarchive/triplestore/internal/terminals"
)

// Bounds on what a DOCTYPE may declare. Its entities are expanded where they are declared, so that a reference costs one
// copy, and none may grow beyond maxEntity: the "billion laughs" stop at the first thousand.
const (
	maxEntity   = 64 << 10
	maxEntities = 1000
)

// doctype reads a document type declaration and keeps the general entities of its internal subset. Everything else in it
// is passed over; what it names outside of the document is never looked at.
func (x *xmlScanner) doctype() error {
	in := x.in
	in.pos += len("<!DOCTYPE")
	for {
		switch c := in.peek(); {
		case c == 0 && in.atEnd():
			return in.fail(0, "'>' at the end of the document type")
		case c == '>':
			in.pos++
			return nil
		case c == '"', c == '\'':
			if err := x.quoted(c); err != nil {
				return err
			}
		case c == '[':
			in.pos++
			if err := x.subset(); err != nil {
				return err
			}
		case c == '<':
			return in.fail(0, "'>' at the end of the document type")
		default:
			in.pos++
		}
	}
}

func (x *xmlScanner) quoted(quote byte) error {
	_, err := x.until(string(quote), 1, "a closing quote")
	return err
}

// subset reads declarations up to ']'.
func (x *xmlScanner) subset() error {
	in := x.in
	for {
		var err error
		switch c := in.peek(); {
		case c == 0 && in.atEnd():
			return in.fail(0, "']' at the end of the declarations")
		case c == ']':
			in.pos++
			return nil
		case x.has("<!--"):
			_, err = x.until("-->", 4, "'-->'")
		case x.has("<?"):
			_, err = x.until("?>", 2, "'?>'")
		case x.has("<!ENTITY"):
			err = x.entityDeclaration()
		case c == '<':
			err = x.skipDeclaration()
		case terminals.Class[c]&terminals.Space != 0:
			in.pos++
		case c == '%':
			_, err = x.until(";", 1, "';'")
		default:
			err = in.fail(0, "a declaration or ']'")
		}
		if err != nil {
			return err
		}
	}
}

// skipDeclaration passes over <!ELEMENT ...> and the like, minding quotes.
func (x *xmlScanner) skipDeclaration() error {
	in := x.in
	for {
		switch c := in.peek(); {
		case c == 0 && in.atEnd():
			return in.fail(0, "'>' at the end of a declaration")
		case c == '>':
			in.pos++
			return nil
		case c == '"', c == '\'':
			if err := x.quoted(c); err != nil {
				return err
			}
		default:
			in.pos++
		}
	}
}

func (x *xmlScanner) entityDeclaration() error {
	in := x.in
	in.pos += len("<!ENTITY")
	x.skipSpace()
	if in.peek() == '%' { // parameter entities only serve declarations, which mean nothing here
		return x.skipDeclaration()
	}
	n, err := x.nameLen(0)
	if err != nil {
		return err
	}
	name := string(in.buf[in.pos : in.pos+n])
	in.pos += n
	x.skipSpace()
	if c := in.peek(); c != '"' && c != '\'' { // an external entity: not declared as far as we know
		return x.skipDeclaration()
	}
	raw, err := x.until(string(in.peek()), 1, "a closing quote")
	if err != nil {
		return err
	}
	value, err := x.entityValue(raw)
	if err != nil {
		return err
	}
	if x.entities == nil {
		x.entities = map[string]string{}
	}
	if len(x.entities) >= maxEntities {
		return in.failWith(0, limitError("a number of entities", maxEntities))
	}
	if _, declared := x.entities[name]; !declared { // the first declaration counts (XML 1.0 §4.2)
		x.entities[name] = value
	}
	return x.skipDeclaration()
}

func (x *xmlScanner) skipSpace() {
	for terminals.Class[x.in.peek()]&terminals.Space != 0 {
		x.in.pos++
	}
}

// entityValue expands the references inside of an entity's value. Entities that hold markup are refused.
func (x *xmlScanner) entityValue(raw []byte) (string, error) {
	if err := x.checkChars(raw); err != nil {
		return "", err
	}
	rest := string(newlines(raw))
	var b strings.Builder
	for {
		i := strings.IndexByte(rest, '&')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		rest = rest[i+1:]
		name, after, ok := strings.Cut(rest, ";")
		if !ok {
			return "", x.in.failWith(0, fmt.Errorf("a '&' that begins no reference"))
		}
		s, known := x.entity(name)
		if !known {
			return "", x.in.failWith(0, fmt.Errorf("the entity %q is not declared", name))
		}
		b.WriteString(s)
		rest = after
		if b.Len() > maxEntity {
			return "", x.in.failWith(0, limitError("an entity", maxEntity))
		}
	}
	if b.Len() > maxEntity {
		return "", x.in.failWith(0, limitError("an entity", maxEntity))
	}
	if bytes.IndexByte(raw, '<') >= 0 {
		return "", x.in.failWith(0, fmt.Errorf("an entity that holds markup"))
	}
	return b.String(), nil
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decodeXMLCharset makes UTF-8 of what says by its first bytes that it is something else.
func decodeXMLCharset(r io.Reader) io.Reader {
	head := make([]byte, 256)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	all := io.MultiReader(bytes.NewReader(head), r)
	if err != nil {
		return io.MultiReader(bytes.NewReader(head), failedReader{err})
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\x00<")):
		return transform.NewReader(all, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("<\x00")):
		return transform.NewReader(all, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	}
	m := xmlEncoding.FindSubmatch(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")))
	if m == nil {
		return all
	}
	label := strings.ToLower(string(m[1]))
	if label == "utf-8" || label == "us-ascii" || strings.HasPrefix(label, "utf-16") {
		return all
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return failedReader{documentFault{fmt.Errorf("the encoding %q is not known", label)}}
	}
	return transform.NewReader(all, enc.NewDecoder())
}

type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }
