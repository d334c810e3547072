package rdfio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"odarchive/triplestore/internal/terminals"
)

// Bounds on what a DOCTYPE may declare. Entities are expanded where they are declared, so a reference costs one copy,
// and none may grow beyond maxEntity, which ends a "billion laughs" at the first thousand.
const (
	maxEntity   = 64 << 10
	maxEntities = 1000
)

// doctype reads a document type declaration and keeps the general entities of its internal subset. It skips everything
// else; external subsets are never read.
func (x *xmlScanner) doctype() error {
	x.in.pos += len("<!DOCTYPE")
	for {
		c, err := x.skipUntil("[<>", "'>' at the end of the document type")
		if err != nil {
			return err
		}
		switch c {
		case '>':
			x.in.pos++
			return nil
		case '<':
			return x.in.fail(0, "'>' at the end of the document type")
		}
		x.in.pos++
		if err := x.subset(); err != nil {
			return err
		}
	}
}

// skipUntil skips to the next of the given characters outside quotes and returns it. The input must not end before; end
// names what is missing then.
func (x *xmlScanner) skipUntil(chars, end string) (byte, error) {
	in := x.in
	for {
		switch c := in.peek(); {
		case c == 0 && in.atEnd():
			return 0, in.fail(0, "%s", end)
		case strings.IndexByte(chars, c) >= 0:
			return c, nil
		case c == '"', c == '\'':
			if _, err := x.until(string(c), 1, "a closing quote"); err != nil {
				return 0, err
			}
		default:
			in.pos++
		}
	}
}

// subset reads the declarations of the internal subset, up to and including "]".
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
		case x.in.hasPrefix("<!--"):
			_, err = x.until("-->", 4, "'-->'")
		case x.in.hasPrefix("<?"):
			_, err = x.until("?>", 2, "'?>'")
		case x.in.hasPrefix("<!ENTITY"):
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

// skipDeclaration skips the rest of <!ELEMENT ...> and other declarations.
func (x *xmlScanner) skipDeclaration() error {
	_, err := x.skipUntil(">", "'>' at the end of a declaration")
	if err == nil {
		x.in.pos++
	}
	return err
}

// entityDeclaration reads an entity declaration and keeps the value of an internal general entity.
func (x *xmlScanner) entityDeclaration() error {
	in := x.in
	in.pos += len("<!ENTITY")
	x.skipSpace()
	if in.peek() == '%' { // parameter entities only serve other declarations
		return x.skipDeclaration()
	}
	n, err := x.nameLen(0)
	if err != nil {
		return err
	}
	name := string(in.buf[in.pos : in.pos+n])
	in.pos += n
	x.skipSpace()
	if c := in.peek(); c != '"' && c != '\'' { // an external entity counts as not declared
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
	if _, declared := x.entities[name]; !declared { // the first declaration is binding (XML 1.0 §4.2)
		x.entities[name] = value
	}
	return x.skipDeclaration()
}

// skipSpace skips white space and reports whether there is any.
func (x *xmlScanner) skipSpace() (skipped bool) {
	for terminals.Class[x.in.peek()]&terminals.Space != 0 {
		x.in.pos++
		skipped = true
	}
	return skipped
}

// entityValue expands the references in the value of an entity. Values must not contain markup.
func (x *xmlScanner) entityValue(raw []byte) (string, error) {
	if err := x.checkChars(raw); err != nil {
		return "", err
	}
	var b strings.Builder
	for i, part := range strings.Split(string(newlines(raw)), "&") {
		if i > 0 {
			name, after, ok := strings.Cut(part, ";")
			if !ok {
				return "", x.in.failWith(0, errors.New("a '&' that begins no reference"))
			}
			value, declared := x.entity(name)
			if !declared {
				return "", x.in.failWith(0, fmt.Errorf("the entity %q is not declared", name))
			}
			b.WriteString(value)
			part = after
		}
		b.WriteString(part)
		if b.Len() > maxEntity {
			return "", x.in.failWith(0, limitError("an entity", maxEntity))
		}
	}
	if bytes.IndexByte(raw, '<') >= 0 {
		return "", x.in.failWith(0, errors.New("an entity that contains markup"))
	}
	return b.String(), nil
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decodeXMLCharset converts a document to UTF-8 if its byte order mark or XML declaration names another encoding.
func decodeXMLCharset(r io.Reader) io.Reader {
	all := bufio.NewReaderSize(r, 256)
	head, _ := all.Peek(256) // an error comes back from Read
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
		return failedReader{documentFault{fmt.Errorf("the encoding %q is unknown", label)}}
	}
	return transform.NewReader(all, enc.NewDecoder())
}

// failedReader is a reader whose reads fail.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }
