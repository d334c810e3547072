package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// A PDF is read by its objects (ISO 32000-1, 7.3 and 7.5), not by its tables of references, which are wrong in many
// files: all objects are found by their keywords, and those in object streams added.

// Limits of a PDF.
const (
	pdfObjects  = 500_000
	pdfInflated = 128 << 20 // bytes of all streams that are unpacked
)

// pdfFile is the objects of a PDF.
type pdfFile struct {
	raw      []byte
	places   map[int]int // offsets of objects, after the keyword
	packed   map[int]any // objects of object streams
	inflated int
}

// pdfRef is a reference to an object.
type pdfRef int

// pdfName is a name, without its slash.
type pdfName string

// pdfDict is a dictionary. The key "" has the offset of a stream that follows it.
type pdfDict map[string]any

// numberBefore returns the number of an object whose keyword follows b: b ends in the number, the generation and white
// space.
func numberBefore(b []byte) (n int, ok bool) {
	word := func(max int) string {
		end := len(b)
		for end > 0 && b[end-1] <= ' ' && len(b)-end < 20 {
			end--
		}
		start := end
		for start > 0 && b[start-1] >= '0' && b[start-1] <= '9' && end-start < max {
			start--
		}
		digits := string(b[start:end])
		if end == len(b) {
			digits = ""
		}
		b = b[:start]
		return digits
	}
	if word(5) == "" {
		return 0, false
	}
	n, err := strconv.Atoi(word(7))
	return n, err == nil
}

// pdf reads the pages, the properties, the language and the number of tables of a PDF.
func pdf(ctx context.Context, in source.Input, d *Document) error {
	limit := source.Options{}.WithDefaults().MaxBytes
	if in.Size > limit {
		return fmt.Errorf("a PDF of more than %d MiB is not read", limit>>20)
	}
	raw := make([]byte, in.Size)
	if n, err := in.Body.ReadAt(raw, 0); n < len(raw) && !errors.Is(err, io.EOF) {
		return err
	}
	f := &pdfFile{raw: raw, places: map[int]int{}, packed: map[int]any{}}
	for at := 0; len(f.places) < pdfObjects; {
		i := bytes.Index(raw[at:], []byte("obj"))
		if i < 0 {
			break
		}
		if n, ok := numberBefore(raw[:at+i]); ok {
			f.places[n] = at + i + len("obj") // later ones replace earlier ones
		}
		at += i + len("obj")
	}
	if len(f.places) == 0 {
		return errors.New("there are no objects in the PDF")
	}
	trailer := pdfDict{}
	join := func(t pdfDict) {
		for _, k := range []string{"Root", "Info", "Encrypt"} {
			if v := t[k]; v != nil {
				trailer[k] = v
			}
		}
	}
	for at, n := 0, 0; n < 1000; n++ {
		i := bytes.Index(raw[at:], []byte("trailer"))
		if i < 0 {
			break
		}
		at += i + len("trailer")
		if t, ok := f.parse(at).(pdfDict); ok {
			join(t)
		}
	}
	tables, pages := 0, 0
	roles := map[string]bool{"Table": true}
	var structs []string
	look := func(o any) {
		t, ok := o.(pdfDict)
		if !ok {
			return
		}
		switch kind, _ := t["Type"].(pdfName); {
		case kind == "Page":
			pages++
		case kind == "XRef":
			join(t)
		case kind == "StructTreeRoot":
			if m, ok := f.value(t["RoleMap"]).(pdfDict); ok {
				for k, v := range m {
					if v == pdfName("Table") {
						roles[k] = true
					}
				}
			}
		}
		if s, ok := t["S"].(pdfName); ok && t["P"] != nil && len(structs) < pdfObjects {
			structs = append(structs, string(s))
		}
	}
	n := 0
	for _, at := range f.places {
		if n++; n&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		o := f.parse(at)
		look(o)
		if t, ok := o.(pdfDict); ok && t["Type"] == pdfName("ObjStm") {
			f.unpack(t)
		}
	}
	for _, o := range f.packed {
		look(o)
	}
	for _, s := range structs {
		if roles[s] {
			tables++
		}
	}
	d.Encrypted = trailer["Encrypt"] != nil
	root, _ := f.value(trailer["Root"]).(pdfDict)
	d.Pages, d.Tables = pages, tables
	if tree, ok := f.value(root["Pages"]).(pdfDict); ok {
		if count, ok := f.value(tree["Count"]).(int); ok && count > 0 && count <= 1_000_000 &&
			(pages == 0 || d.Encrypted || count <= 4*pages) {
			// a page may be there twice
			d.Pages = count
		}
	}
	if d.Encrypted { // its texts are encrypted, too
		return nil
	}
	f.properties(d, root, trailer)
	return nil
}

// properties takes what the catalog, the metadata and the information dictionary say.
func (f *pdfFile) properties(d *Document, root, trailer pdfDict) {
	if lang, ok := f.value(root["Lang"]).(string); ok {
		d.Languages = append(d.Languages, pdfText(lang))
	}
	if info, ok := f.value(trailer["Info"]).(pdfDict); ok {
		for k, to := range map[string]*string{"Title": &d.Title, "Author": &d.Creator, "Subject": &d.Description, "Creator": &d.Software,
			"CreationDate": &d.Created, "ModDate": &d.Modified} {
			if s, ok := f.value(info[k]).(string); ok {
				*to = pdfText(s)
			}
		}
		if producer, ok := f.value(info["Producer"]).(string); ok {
			d.Software = firstOf(d.Software, pdfText(producer))
		}
	}
	if meta, ok := f.value(root["Metadata"]).(pdfDict); ok {
		elements(f.stream(meta), func(p string, _ map[string]string, text string) {
			switch parts := strings.Split(p, "/"); {
			case len(parts) < 3 || text == "":
			case parts[len(parts)-3] == "title":
				d.Title = firstOf(d.Title, text)
			case parts[len(parts)-3] == "creator":
				d.Creator = firstOf(d.Creator, text)
			case parts[len(parts)-3] == "language":
				d.Languages = append(d.Languages, text)
			case path.Base(p) == "CreateDate":
				d.Created = firstOf(d.Created, text)
			}
		})
	}
}

// value returns what a reference refers to, and other values as they are.
func (f *pdfFile) value(o any) any {
	for range 10 {
		ref, ok := o.(pdfRef)
		if !ok {
			return o
		}
		if at, ok := f.places[int(ref)]; ok {
			o = f.parse(at)
		} else {
			o = f.packed[int(ref)]
		}
	}
	return nil
}

// stream returns the bytes of a stream, unpacked if they are deflated; nil if they are stored in another way.
func (f *pdfFile) stream(t pdfDict) []byte {
	at, ok := t[""].(int)
	if !ok {
		return nil
	}
	n, ok := f.value(t["Length"]).(int)
	if !ok || n < 0 || n > len(f.raw)-at {
		if n = bytes.Index(f.raw[at:], []byte("endstream")); n < 0 {
			return nil
		}
	}
	body := f.raw[at : at+n]
	filter := f.value(t["Filter"])
	if list, ok := filter.([]any); ok && len(list) <= 1 {
		filter = nil
		if len(list) == 1 {
			filter = f.value(list[0])
		}
	}
	switch filter {
	case nil:
		return body
	case pdfName("FlateDecode"), pdfName("Fl"):
		out := inflate(body, pdfInflated-f.inflated)
		f.inflated += len(out)
		return out
	}
	return nil
}

// unpack adds the objects of an object stream (7.5.7), unless they are in the file themselves.
func (f *pdfFile) unpack(t pdfDict) {
	first, _ := f.value(t["First"]).(int)
	n, _ := f.value(t["N"]).(int)
	body := f.stream(t)
	if first <= 0 || first > len(body) || n <= 0 || n > pdfObjects {
		return
	}
	head := bytes.Fields(body[:first])
	for i := 0; i+1 < len(head) && i < 2*n && len(f.packed) < pdfObjects; i += 2 {
		number, err := strconv.Atoi(string(head[i]))
		off, err2 := strconv.Atoi(string(head[i+1]))
		if err != nil || err2 != nil || off < 0 || off > len(body)-first {
			return
		}
		if _, ok := f.places[number]; !ok {
			p := pdfParser{b: body, at: first + off}
			f.packed[number] = p.value(0)
		}
	}
}

// parse returns the object at an offset of the file.
func (f *pdfFile) parse(at int) any {
	p := pdfParser{b: f.raw, at: at}
	o := p.value(0)
	if t, ok := o.(pdfDict); ok {
		p.space()
		if rest, ok := bytes.CutPrefix(p.b[p.at:], []byte("stream")); ok {
			rest = bytes.TrimPrefix(rest, []byte("\r"))
			rest = bytes.TrimPrefix(rest, []byte("\n"))
			t[""] = len(p.b) - len(rest)
		}
	}
	return o
}
