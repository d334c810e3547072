// Reads XML as metadata services write it, as trees of elements identified by their local names, since
// prefixes and namespaces vary.
//
// It accepts excluded characters, HTML entities and wrongly closed elements. Documents must be UTF-8, whatever they
// declare. Depth and text are limited. It does not validate and never loads a DTD.

package loose

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	xmlMaxDepth = 200     // nested elements
	maxText     = 4 << 20 // bytes of character data per element
)

// ErrDeep is wrapped by the error of elements nested too deep.
var ErrDeep = fmt.Errorf("elements are nested more than %d deep", xmlMaxDepth)

// XMLReader reads one document, element by element.
type XMLReader struct {
	dec   *xml.Decoder
	body  []byte
	scope []xml.Attr // namespace declarations in scope, the innermost last
}

// NewXMLReader returns a reader of a document in UTF-8.
func NewXMLReader(body []byte) *XMLReader {
	body = clean(body)
	r := &XMLReader{dec: xml.NewDecoder(bytes.NewReader(body)), body: body}
	r.dec.Strict = false
	r.dec.Entity = xml.HTMLEntity
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the document is UTF-8 already
	return r
}

// Next returns the next start of an element and its offset, or a nil start for an end. At the end of the document the
// error is io.EOF.
func (r *XMLReader) Next() (start *xml.StartElement, from int64, err error) {
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

// Enter adds the namespaces that an element declares to the scope. Leave(outer) removes them.
func (r *XMLReader) Enter(start *xml.StartElement) (outer int) {
	outer = len(r.scope)
	for _, a := range start.Attr {
		if declares(a) {
			r.scope = append(r.scope, a)
		}
	}
	return outer
}

// Leave ends the scope of an element.
func (r *XMLReader) Leave(outer int) { r.scope = r.scope[:outer] }

func declares(a xml.Attr) bool {
	return a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns")
}

// Element reads the rest of an element whose start has been read.
func (r *XMLReader) Element(start *xml.StartElement) (*Element, error) { return r.element(start, 0) }

func (r *XMLReader) element(start *xml.StartElement, depth int) (*Element, error) {
	if depth > xmlMaxDepth {
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

// Raw returns the element just read, which began at offset from, as a document of its own, with the namespace
// declarations in scope. The caller owns the result.
func (r *XMLReader) Raw(start *xml.StartElement, from int64) []byte {
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
		xml.EscapeText(&b, []byte(a.Value)) // cannot fail
		b.WriteByte('"')
	}
	b.Write(raw[cut:])
	return b.Bytes()
}

// EndsEarly reports whether err is that of a document that ends inside an element.
func EndsEarly(err error) bool {
	var syntax *xml.SyntaxError
	return errors.Is(err, io.EOF) || (errors.As(err, &syntax) && syntax.Msg == "unexpected EOF")
}

// Broken returns an error of this package's readers as a sentence.
func Broken(err error) error {
	if EndsEarly(err) {
		return errors.New("the answer breaks off")
	}
	return fmt.Errorf("broken XML: %w", err)
}
