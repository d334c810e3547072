// Package rdffiles reads the statements of RDF files that a person names: in any syntax or as HDT, compressed, as
// members of an archive, or inside an HTML page.
package rdffiles

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/term"
)

// ErrSyntax is wrapped by the error about a file whose syntax is not given and cannot be detected.
var ErrSyntax = errors.New("the syntax cannot be detected; give --format nt, nq, ttl, trig, rdfxml, jsonld, hdt or html")

// Format is a value of --format: a syntax, HDT, or an HTML page. The zero Format means that the format is detected.
type Format struct {
	Syntax rdfio.Syntax
	HDT    bool
	Page   bool
}

// IsZero reports whether f is the zero Format.
func (f Format) IsZero() bool { return f.Syntax.IsZero() && !f.HDT && !f.Page }

// FormatOf returns the format with a name.
func FormatOf(name string) (Format, bool) {
	switch strings.ToLower(name) {
	case "hdt", hdt.MediaType:
		return Format{HDT: true}, true
	case "html", "htm", "xhtml", "rdfa", "microdata", "text/html", "application/xhtml+xml":
		return Format{Page: true}, true
	}
	s, ok := rdfio.ByName(name)
	return Format{Syntax: s}, ok
}

// Options configure Open.
type Options struct {
	Format  Format
	Base    string            // IRI that relative IRIs are resolved against
	TempDir string            // for copies of streams that must be read at random; "" is the system's
	Skip    bool              // skip statements with errors
	Bad     func(error)       // is called for each skipped statement; may be nil
	Ignored func([]string)    // is called with the names of members that are not RDF, at most 1,000; may be nil
	Member  func(path string) // is called before the statements of a member; may be nil
}

// Source reads statements. The caller must Close it.
type Source struct {
	read  func() (term.Quad, error)
	close []func()
}

// Read returns the next statement, or io.EOF after the last.
func (s *Source) Read() (term.Quad, error) { return s.read() }

// Close removes temporary files. It does not close the file that Open was called with.
func (s *Source) Close() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// errNoData means that a page has no RDF.
var errNoData = errors.New("the page holds no JSON-LD, Microdata, RDFa or Microformats")

// sniffed is the number of bytes from which the format of a file is detected.
const sniffed = 4096

// Open returns a Source of the statements of a file. name is used to detect the format and in errors.
func Open(ctx context.Context, in io.Reader, name string, o Options) (*Source, error) {
	s := &Source{}
	if err := s.open(ctx, in, name, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(ctx context.Context, in io.Reader, name string, o Options) error {
	raw, head, err := peek(in, 6)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if isArchive(head) {
		return s.archive(ctx, in, raw, name, o)
	}
	if seeker, ok := in.(io.Seeker); ok && bytes.HasPrefix(head, []byte(hdt.Magic)) {
		if _, err := seeker.Seek(0, io.SeekStart); err == nil {
			return s.hdt(ctx, in, in, name, o)
		}
	}
	plain, err := rdfio.Decompress(raw, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.close = append(s.close, func() { plain.Close() })
	text, head, err := peek(plain, sniffed)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if isTar(head) {
		return s.archive(ctx, in, text, name, o)
	}
	return s.document(ctx, text, head, name, o)
}

// document makes one decompressed file the source. head is the beginning of text.
func (s *Source) document(ctx context.Context, text io.Reader, head []byte, name string, o Options) error {
	f := o.Format
	if f.IsZero() {
		f = detect(name, head)
	}
	switch {
	case f.HDT:
		return s.hdt(ctx, text, nil, name, o)
	case f.Page:
		return s.page(text, name, o)
	case f.Syntax.IsZero():
		return fmt.Errorf("%s: %w", name, ErrSyntax)
	}
	s.statements(rdfio.NewReader(text, f.Syntax,
		rdfio.Options{File: name, Base: o.Base, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true, LongTags: true}), o)
	return nil
}

// detect detects the format of a file from its name and its first bytes.
func detect(name string, head []byte) Format {
	if bytes.HasPrefix(head, []byte(hdt.Magic)) {
		return Format{HDT: true}
	}
	if s, ok := rdfio.ByExtension(name); ok {
		return Format{Syntax: s}
	}
	if isPage(name, head) {
		return Format{Page: true}
	}
	s, _ := rdfio.Detect(head, name, "")
	return Format{Syntax: s}
}

// isPage reports whether a file is an HTML page, by its name or by its first tag.
func isPage(name string, head []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	for range 8 {
		head = bytes.TrimLeft(head, " \t\r\n\f")
		end := ""
		switch {
		case bytes.HasPrefix(head, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(head, []byte("<?xml")):
			end = "?>"
		default:
			tag := strings.ToLower(string(head[:min(len(head), 14)]))
			return strings.HasPrefix(tag, "<!doctype html") || strings.HasPrefix(tag, "<html")
		}
		_, rest, ok := bytes.Cut(head, []byte(end))
		if !ok {
			return false
		}
		head = rest
	}
	return false
}

// statements makes a reader the source. With Options.Skip, statements with errors are skipped.
func (s *Source) statements(r interface {
	Read() (term.Quad, error)
	Skip() bool
}, o Options) {
	s.read = func() (term.Quad, error) {
		for {
			q, err := r.Read()
			if err == nil || errors.Is(err, io.EOF) || !o.Skip || !r.Skip() {
				return q, err
			}
			if o.Bad != nil {
				o.Bad(err)
			}
		}
	}
}

// hdt makes an HDT file the source. If file is an *os.File, it is read at random; otherwise text is copied to a
// temporary file.
func (s *Source) hdt(ctx context.Context, text, file io.Reader, name string, o Options) error {
	f, ok := file.(*os.File)
	if !ok {
		var err error
		if f, err = s.spool(text, o); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := hdt.Open(ctx, f, info.Size(), hdt.Options{BlankPrefix: rdfio.NewBlankPrefix()})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.statements(named{r, name}, o)
	return nil
}

// named is an HDT reader that adds the name of the file to errors.
type named struct {
	*hdt.Reader
	name string
}

func (n named) Read() (term.Quad, error) {
	q, err := n.Reader.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", n.name, err)
	}
	return q, err
}

// spool copies a stream to a temporary file, which Close removes.
func (s *Source) spool(in io.Reader, o Options) (*os.File, error) {
	f, err := os.CreateTemp(o.TempDir, "load-*")
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, func() {
		f.Close()
		os.Remove(f.Name())
	})
	_, err = io.Copy(f, in)
	return f, err
}

// page makes the JSON-LD, Microdata, RDFa and Microformats of an HTML page the source.
func (s *Source) page(text io.Reader, name string, o Options) error {
	if o.Base == "" {
		return fmt.Errorf("%s: give the address of the page with --document-base", name)
	}
	page, err := webpage.Read(text, webpage.Options{Base: o.Base, BlankPrefix: rdfio.NewBlankPrefix()})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, fault := range page.Faults {
		err := fmt.Errorf("%s: a script with JSON-LD: %w", name, fault)
		if !o.Skip {
			return err
		}
		if o.Bad != nil {
			o.Bad(err)
		}
	}
	all := page.All()
	if len(all) == 0 && len(page.Faults) == 0 {
		return fmt.Errorf("%s: %w", name, errNoData)
	}
	s.read = func() (q term.Quad, err error) {
		if len(all) == 0 {
			return q, io.EOF
		}
		q, all = all[0], all[1:]
		return q, nil
	}
	return nil
}

// isArchive reports whether a file begins like a zip, 7z or rar archive.
func isArchive(head []byte) bool {
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "7z\xBC\xAF\x27\x1C", "Rar!"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// isTar reports whether a file begins like a tar archive.
func isTar(head []byte) bool { return len(head) >= 512 && string(head[257:262]) == "ustar" }

// peek returns the first bytes of r, at most n, and a reader of all bytes of r.
func peek(r io.Reader, n int) (*bufio.Reader, []byte, error) {
	b := bufio.NewReaderSize(r, max(n, sniffed))
	head, err := b.Peek(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b, head, err
}
