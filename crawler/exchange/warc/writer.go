package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress"
	"github.com/klauspost/compress/gzip"
)

// Writer appends records of version 1.1 to a .warc.gz file, each as one gzip member. The same records give the same
// bytes. It is not safe for concurrent use. It holds no resources: there is nothing to close.
type Writer struct {
	w      io.Writer
	offset int64
	gz     *gzip.Writer
	buf    bytes.Buffer

	// Only set in a fast writer. It uses gz for records whose block is short, or if a sample of the block shows that it
	// shrinks well. For other records, looking for matches would take long and gain little: they are compressed with
	// quick, or stored with asis if the sample shows that they are compressed already.
	quick  *gzip.Writer
	asis   *gzip.Writer
	sample []byte

	scratch []byte // parts of a member
}

// A fast writer judges a block longer than sampleFrom by its first sampleSize bytes, with the estimate of
// klauspost/compress: 0 for random bytes, 1 for one byte repeated.
const (
	sampleFrom    = 16 << 10
	sampleSize    = 4 << 10
	shrinksWell   = 0.5
	shrinksLittle = 0.1
)

// newFastWriter returns a writer that saves time rather than space.
func newFastWriter() *Writer {
	w := &Writer{sample: make([]byte, sampleSize)}
	w.asis, _ = gzip.NewWriterLevel(counter{w}, gzip.NoCompression)
	w.gz, _ = gzip.NewWriterLevel(counter{w}, gzip.BestSpeed) // the levels are valid
	w.quick, _ = gzip.NewWriterLevel(counter{w}, gzip.HuffmanOnly)
	return w
}

// compressor returns the compressor for a record, and a reader of its block, of which it may have read the beginning.
func (w *Writer) compressor(block io.Reader, size int64) (*gzip.Writer, io.Reader, error) {
	if w.quick == nil || block == nil || size <= sampleFrom {
		return w.gz, block, nil
	}
	n, err := io.ReadFull(block, w.sample)
	if err != nil {
		return nil, nil, err
	}
	body := w.sample[:n]
	if end := HeadEnd(body, 0); end > 0 && end < n/2 {
		body = body[end:] // judge an HTTP message by its body
	}
	block = io.MultiReader(bytes.NewReader(w.sample[:n]), block)
	switch shrinks := compress.Estimate(body); {
	case shrinks > shrinksWell:
		return w.gz, block, nil
	case shrinks > shrinksLittle:
		return w.quick, block, nil
	}
	return w.asis, block, nil
}

// NewWriter returns a writer that appends to w, which must be empty or end with a complete member. Offsets are counted
// from the first byte written.
func NewWriter(w io.Writer) *Writer {
	wr := &Writer{w: w}
	wr.gz = gzip.NewWriter(counter{wr})
	return wr
}

// counter counts what is written to the file.
type counter struct{ w *Writer }

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.w.Write(p)
	c.w.offset += int64(n)
	return n, err
}

// Offset returns the number of bytes written so far.
func (w *Writer) Offset() int64 { return w.offset }

// Write appends a record and sets its Offset and Length. It uses the Header, Block and Packed of rec; Block may be nil.
//
// Header must have WARC-Type, WARC-Record-ID and WARC-Date. Write adds the fields that are missing among
// Content-Length, WARC-Block-Digest and, for responses and resources, WARC-Payload-Digest; for that, Block must be an
// io.Seeker, since it is read twice. If Header has Content-Length, it must be correct. Fields are written in order,
// added ones last.
//
// After an error, a part of the record may have been written. The caller must truncate the file to the Offset from
// before the call.
func (w *Writer) Write(rec *Record) error {
	h, err := w.complete(rec)
	if err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	want, err := contentLength(h)
	if err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	w.buf.Reset()
	w.buf.WriteString("WARC/1.1\r\n")
	for _, f := range h {
		w.buf.WriteString(f.Name)
		w.buf.WriteString(": ")
		w.buf.WriteString(f.Value)
		w.buf.WriteString("\r\n")
	}
	w.buf.WriteString("\r\n")
	rec.Offset = w.offset
	if rec.Packed != nil {
		if err := w.writePacked(rec, want); err != nil {
			return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
		}
		rec.Length = w.offset - rec.Offset
		return nil
	}
	gz, block, err := w.compressor(rec.Block, want)
	if err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	gz.Reset(counter{w})
	if _, err := gz.Write(w.buf.Bytes()); err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	if block != nil {
		n, err := io.Copy(gz, block)
		if err == nil && n != want {
			err = fmt.Errorf("the block has %d bytes, the header says %d", n, want)
		}
		if err != nil {
			return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
		}
	}
	if _, err := gz.Write([]byte("\r\n\r\n")); err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	if err := gz.Close(); err != nil {
		return fmt.Errorf("warc: write %s: %w", rec.ID(), err)
	}
	rec.Length = w.offset - rec.Offset
	return nil
}

// complete checks the header of a record and returns it with the missing fields added.
func (w *Writer) complete(rec *Record) (Header, error) {
	h := rec.Header
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if h.Get(name) == "" {
			return nil, fmt.Errorf("no %s", name)
		}
	}
	for _, f := range h {
		if f.Name == "" || strings.ContainsFunc(f.Name, func(c rune) bool { return c <= ' ' || c == ':' || c > '~' }) {
			return nil, fmt.Errorf("%q cannot be a field name", f.Name)
		}
		if strings.ContainsFunc(f.Value, isControl) {
			return nil, fmt.Errorf("the field %s holds a control character", f.Name)
		}
	}
	if _, err := ParseDate(h.Get("WARC-Date")); err != nil {
		return nil, err
	}
	typ := strings.ToLower(h.Get("WARC-Type"))
	needBlock := h.Get("WARC-Block-Digest") == ""
	needPayload := (typ == Response || typ == Resource) && h.Get("WARC-Payload-Digest") == ""
	needLength := h.Get("Content-Length") == ""
	if !needBlock && !needPayload && !needLength {
		return h, nil
	}
	if rec.Packed != nil {
		return nil, errPacked
	}
	d := NewDigester(typ == Response && isHTTP(h.Get("Content-Type")))
	if rec.Block != nil {
		s, ok := rec.Block.(io.ReadSeeker)
		if !ok {
			return nil, errors.New("the digests are missing and the block cannot be read twice")
		}
		if _, err := io.Copy(d, s); err != nil {
			return nil, err
		}
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	h = append(make(Header, 0, len(h)+3), h...)
	block, payload := d.Digests()
	if needBlock {
		h.Add("WARC-Block-Digest", block)
	}
	if needPayload {
		h.Add("WARC-Payload-Digest", payload)
	}
	if needLength {
		h.Add("Content-Length", strconv.FormatInt(d.Size(), 10))
	}
	return h, nil
}

func isHTTP(mime string) bool {
	mime, _, _ = strings.Cut(mime, ";")
	return strings.EqualFold(strings.TrimSpace(mime), "application/http")
}
