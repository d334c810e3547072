// Package detect says what kind of file some bytes are: media type, character encoding and compression.
//
// Content decides. First come signatures of binary formats (this package's own, then those of
// github.com/gabriel-vasile/mimetype, which nothing else imports), a look into zip and OLE containers, and then,
// for texts, sniffers of markup, JSON, RDF, mail and tables. What the file is called and what was declared of it
// only choose among kinds that the content allows: between XHTML and HTML, plain text and source code, or for bytes
// that no signature knows. Every answer comes with the reason, as a sentence.
//
// Promises: bounded reading (a few hundred kilobytes and the directory of a container), no panic and no long work
// on any input. It does not validate files and does not tell soft error pages from others.
package detect

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"odarchive/crawler/inspect/charset"
)

// Input is a file to be recognised.
type Input struct {
	Name     string      // file name or URL path; "" if there is none
	Declared string      // Content-Type header or a catalog's format field ("text/csv", "CSV", ".csv"); "" if there is none
	Size     int64       // of Body in bytes
	Body     io.ReaderAt // at least Size bytes
}

// Detection is what a file was found to be.
type Detection struct {
	Type        string  // media type without parameters, lower case
	Charset     string  // encoding of a text, as package charset names it; "" for binary files
	Compression string  // "", or what the file as a whole is compressed with: gzip bzip2 xz lzma zstd lz4 compress brotli
	Tabular     bool    // it is, or reads like, a table of delimited text, whatever Type says
	Confidence  float64 // 0 to 1
	Because     string  // one readable sentence
}

// headSize is how much of a file is looked at.
const headSize = 256 << 10

// File recognises in. It reads a bounded part of the body and fails only if the body cannot be read or ctx ended.
func File(ctx context.Context, in Input) (Detection, error) {
	if err := ctx.Err(); err != nil {
		return Detection{}, fmt.Errorf("detect: %w", err)
	}
	head, err := in.beginning()
	if err != nil {
		return Detection{}, fmt.Errorf("detect: read %s: %w", in.Name, err)
	}
	f := &file{Input: in, head: head, whole: in.Size <= int64(len(head)), hints: hintsOf(in.Name, in.Declared)}
	return f.detect(), nil
}

// beginning is the part of a file that is looked at. A body that has it in memory gives it as it is (Head); it is not
// changed.
func (in Input) beginning() ([]byte, error) {
	size := min(max(in.Size, 0), headSize)
	if b, ok := in.Body.(interface{ Head(int) ([]byte, error) }); ok {
		return b.Head(int(size))
	}
	head := make([]byte, size)
	n, err := in.Body.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:n], nil
}

// file is what the sniffers look at.
type file struct {
	Input
	head  []byte
	whole bool // head is all of it
	hints hints
}

func (f *file) detect() Detection {
	if len(f.head) == 0 {
		return Detection{Type: "application/x-empty", Confidence: 1, Because: "it has no bytes"}
	}
	if d, ok := f.signature(); ok {
		return d
	}
	g := charset.Detect(f.head, charsetParam(f.Declared))
	if text, ok := f.decode(g); ok {
		d := f.text(text)
		d.Charset = g.Name
		if d.Charset == "" {
			d.Charset = "ascii"
		}
		return d
	}
	if d, ok := f.library(); ok {
		return d
	}
	if t := f.hints.binary(); t != "" {
		return Detection{Type: t, Compression: compressionOf(t), Confidence: 0.4, Because: "binary without a known signature; its name or declaration says " + t}
	}
	return Detection{Type: "application/octet-stream", Confidence: 0.3, Because: "binary without a known signature"}
}

// library asks mimetype, for binary formats only.
func (f *file) library() (Detection, bool) {
	m := mimetype.Detect(f.head)
	t, _, _ := strings.Cut(m.String(), ";")
	if t == "application/octet-stream" || strings.HasPrefix(t, "text/") || t == "application/json" {
		return Detection{}, false
	}
	return Detection{Type: customary(t), Compression: compressionOf(t), Confidence: 0.9, Because: "its first bytes are those of " + customary(t)}, true
}

// customary is the name of a type that most programs use, where the library has another.
func customary(t string) string {
	switch t {
	case "audio/x-m4a", "audio/mp4":
		return "audio/mp4"
	case "audio/ogg", "video/ogg":
		return "application/ogg"
	case "text/rtf":
		return "application/rtf"
	case "image/x-icon":
		return "image/vnd.microsoft.icon"
	case "application/vnd.shp", "application/vnd.shx":
		return "application/vnd.shp"
	}
	return t
}

func compressionOf(t string) string {
	switch t {
	case "application/gzip":
		return "gzip"
	case "application/x-bzip2":
		return "bzip2"
	case "application/x-xz":
		return "xz"
	case "application/x-lzma":
		return "lzma"
	case "application/zstd":
		return "zstd"
	case "application/x-lz4":
		return "lz4"
	case "application/x-compress":
		return "compress"
	case "application/x-brotli":
		return "brotli"
	}
	return ""
}

// decode gives the head as UTF-8 if it is a text: hardly a control character, and an encoding that fits.
func (f *file) decode(g charset.Guess) ([]byte, bool) {
	wide := strings.HasPrefix(g.Name, "utf-16") || strings.HasPrefix(g.Name, "utf-32")
	if !wide {
		if !printable(f.head) && !strings.HasPrefix(g.Name, "iso-2022") {
			return nil, false
		}
		if g.Confidence < 0.2 {
			return nil, false
		}
	}
	if g.Name == "ascii" || g.Name == "utf-8" || g.Name == "" {
		return bytes.TrimPrefix(f.head, []byte("\xef\xbb\xbf")), true
	}
	r, err := charset.NewReader(bytes.NewReader(f.head), g.Name)
	if err != nil {
		return f.head, true
	}
	text, err := io.ReadAll(r)
	if err != nil || wide && !printable(text) {
		return nil, false
	}
	return text, true
}

// printable tells whether hardly a byte is a control character. A few may be, as in damaged texts.
func printable(b []byte) bool {
	control, nul := 0, 0
	see := func(c byte) {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b || c == 0x7f {
			control++
			if c == 0 {
				nul++
			}
		}
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	rest := b
	for ; len(rest) >= 8; rest = rest[8:] { // the bytes below a blank, and DEL, of eight at once
		w := binary.LittleEndian.Uint64(rest)
		low := w &^ highs
		for m := (^(low + (0x80-' ')*ones) | (low + ones)) &^ w & highs; m != 0; m &= m - 1 {
			see(rest[bits.TrailingZeros64(m)>>3])
		}
	}
	for _, c := range rest {
		see(c)
	}
	return control*50 <= len(b) && nul*100 <= len(b) || markup(b) && control*5 <= len(b)
}

// markup tells whether a text with noise in it is a web page all the same.
func markup(b []byte) bool {
	low := bytes.ToLower(bytes.TrimLeft(b[:min(len(b), 4096)], "\x00 \t\r\n"))
	return bytes.HasPrefix(low, []byte("<html")) || bytes.HasPrefix(low, []byte("<!doctype html"))
}

// Line is the detection of one file as `odarchive detect --json` prints it, without the line end.
func (d Detection) Line(file string) ([]byte, error) {
	b, err := json.Marshal(struct {
		File        string  `json:"file"`
		MIME        string  `json:"mime"`
		Encoding    string  `json:"encoding"`
		Compression string  `json:"compression"`
		Confidence  float64 `json:"confidence"`
		Because     string  `json:"because"`
	}{file, d.Type, d.Charset, d.Compression, d.Confidence, d.Because})
	if err != nil {
		return nil, fmt.Errorf("detect: %s: %w", file, err)
	}
	return b, nil
}
