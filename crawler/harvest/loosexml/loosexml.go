// Package loosexml reads the XML that metadata services write: elements as trees, told by the local part of their names,
// since prefixes and namespaces vary.
//
// Forbidden characters, entities of HTML and elements that are not closed as they should be do not stop it; answers are in
// UTF-8 already, whatever their declaration says. Depth and text are bounded. It does not validate and never loads a DTD.
package loosexml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxDepth = 200     // of nested elements
	maxText  = 4 << 20 // bytes of character data in one element
)

// ErrDeep is in the error of elements that are nested too deep.
var ErrDeep = fmt.Errorf("elements are nested more than %d deep", maxDepth)

// Reader walks through one document, element by element.
type Reader struct {
	dec   *xml.Decoder
	body  []byte
	scope []xml.Attr // namespaces declared around, the innermost last
}

// NewReader reads a document in UTF-8.
func NewReader(body []byte) *Reader {
	body = clean(body)
	r := &Reader{dec: xml.NewDecoder(bytes.NewReader(body)), body: body}
	r.dec.Strict = false
	r.dec.Entity = xml.HTMLEntity
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded
	return r
}

// Next is the next start or end of an element: start is nil at an end. The error at the document's end is io.EOF.
func (r *Reader) Next() (start *xml.StartElement, from int64, err error) {
	for {
		from = r.dec.InputOffset()
		t, err := r.dec.Token()
		if err != nil {
			return nil, from, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil, from, nil
		case xml.StartElement:
			return &t, from, nil
		}
	}
}

// Enter takes note of the namespaces that an element declares, for what is inside of it; Leave forgets them.
func (r *Reader) Enter(start *xml.StartElement) (outer int) {
	outer = len(r.scope)
	for _, a := range start.Attr {
		if declares(a) {
			r.scope = append(r.scope, a)
		}
	}
	return outer
}

// Leave an element that was entered.
func (r *Reader) Leave(outer int) { r.scope = r.scope[:outer] }

func declares(a xml.Attr) bool {
	return a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns")
}

// Element reads the rest of an element that has begun.
func (r *Reader) Element(start *xml.StartElement) (*Element, error) { return r.element(start, 0) }

func (r *Reader) element(start *xml.StartElement, depth int) (*Element, error) {
	if depth > maxDepth {
		return nil, ErrDeep
	}
	e := &Element{Name: start.Name, Attrs: start.Attr}
	var text strings.Builder
	for {
		t, err := r.dec.Token()
		if err != nil {
			return nil, Broken(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			e.Chars = text.String()
			return e, nil
		case xml.CharData:
			if text.Len()+len(t) <= maxText {
				text.Write(t)
			}
		case xml.StartElement:
			c, err := r.element(&t, depth+1)
			if err != nil {
				return nil, err
			}
			e.Children = append(e.Children, c)
		}
	}
}

// Raw is the element that began at from and has just been read, as a document of its own: the namespaces that were
// declared around it move onto it. It belongs to the caller.
func (r *Reader) Raw(start *xml.StartElement, from int64) []byte {
	raw := r.body[from:r.dec.InputOffset()]
	declared := map[string]bool{}
	for _, a := range start.Attr {
		if declares(a) {
			declared[a.Name.Space+":"+a.Name.Local] = true
		}
	}
	cut := 1
	for cut < len(raw) && !bytes.ContainsRune([]byte(" \t\r\n/>"), rune(raw[cut])) {
		cut++
	}
	var b bytes.Buffer
	b.Write(raw[:cut])
	for i := len(r.scope) - 1; i >= 0; i-- {
		a := r.scope[i]
		if declared[a.Name.Space+":"+a.Name.Local] {
			continue
		}
		declared[a.Name.Space+":"+a.Name.Local] = true
		b.WriteString(" xmlns")
		if a.Name.Space == "xmlns" {
			b.WriteString(":" + a.Name.Local)
		}
		b.WriteString(`="`)
		xml.EscapeText(&b, []byte(a.Value)) // a buffer takes everything
		b.WriteByte('"')
	}
	b.Write(raw[cut:])
	return b.Bytes()
}

// EndsEarly tells a document that stops inside of an element.
func EndsEarly(err error) bool {
	var syntax *xml.SyntaxError
	return errors.Is(err, io.EOF) || (errors.As(err, &syntax) && syntax.Msg == "unexpected EOF")
}

// Broken says in a sentence what is wrong with a document.
func Broken(err error) error {
	if EndsEarly(err) {
		return errors.New("the answer breaks off")
	}
	return fmt.Errorf("broken XML: %w", err)
}
