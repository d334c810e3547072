// Package detect finds out what kind of file some bytes are: media type, character encoding and compression.
//
// Content decides. Signatures of binary formats come first (this package's own, then those of
// github.com/gabriel-vasile/mimetype, which only this package imports), then the members of zip and OLE containers, and
// then, for texts, sniffers of markup, JSON, RDF, mail and tables. The file's name and declared type only choose among
// kinds that the content allows: between XHTML and HTML, plain text and source code, or for bytes without a known
// signature. Every answer comes with its reason, as a sentence.
//
// File reads a bounded part of the input (a few hundred kilobytes and the directory of a container), and neither panics
// nor takes long on any input. The package does not validate files and does not recognise soft error pages.
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
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"odarchive/crawler/inspect/charset"
	"odarchive/triplestore/compression"
)

// Input is a file to recognise.
type Input struct {
	Name     string      // file name or URL path; "" if none
	Declared string      // Content-Type header or a catalog's format field ("text/csv", "CSV", ".csv"); "" if none
	Size     int64       // of Body in bytes
	Body     io.ReaderAt // at least Size bytes
}

// Detection is the kind of a file.
type Detection struct {
	Type        string  // media type without parameters, lower case
	Charset     string  // encoding of a text, named as in package charset; "" for binary files
	Compression string  // compression of the whole file, "" if none: gzip bzip2 xz lzma zstd lz4 compress brotli
	Tabular     bool    // the file is, or looks like, a table of delimited text, whatever Type is
	Confidence  float64 // 0 to 1
	Because     string  // one sentence
}

// headSize is how much of a file is examined.
const headSize = 256 << 10

// File recognises in. It reads a bounded part of the body. It fails only if the body cannot be read or ctx has ended.
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

// beginning returns the first headSize bytes. A body that has them in memory returns them without a copy (Head), and
// they are not changed.
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

// file is what the sniffers examine.
type file struct {
	Input
	head  []byte
	whole bool // head is the whole file
	hints hints
}

// detect recognises the file.
func (f *file) detect() Detection {
	if len(f.head) == 0 {
		return Detection{Type: "application/x-empty", Confidence: 1, Because: "it has no bytes"}
	}
	if d, ok := f.signature(); ok {
		if r, ok := f.packedR(d.Compression); ok {
			return r
		}
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
		return Detection{Type: t, Compression: compressionOf(t), Confidence: 0.4,
			Because: "binary without a known signature; its name or declaration says " + t}
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
	return Detection{Type: customary(t), Compression: compressionOf(t), Confidence: 0.9,
		Because: "its first bytes are those of " + customary(t)}, true
}

// customary returns the usual name of a type that the library names differently.
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

// compressionOf returns the compression that a media type names.
func compressionOf(t string) string { return string(compression.ByName(t)) }

// decode returns the head as UTF-8 if it is text: it has few control characters and a plausible encoding.
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

// printable reports whether few bytes are control characters. Some may be, as in damaged texts.
func printable(b []byte) bool {
	control, nul := 0, 0
	count := func(c byte) {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\v' && c != '\f' && c != 0x1b || c == 0x7f {
			control++
			if c == 0 {
				nul++
			}
		}
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	rest := b
	for ; len(rest) >= 8; rest = rest[8:] { // find bytes below a blank, and DEL, eight at once
		w := binary.LittleEndian.Uint64(rest)
		low := w &^ highs
		for m := (^(low + (0x80-' ')*ones) | (low + ones)) &^ w & highs; m != 0; m &= m - 1 {
			count(rest[bits.TrailingZeros64(m)>>3])
		}
	}
	for _, c := range rest {
		count(c)
	}
	return control*50 <= len(b) && nul*100 <= len(b) || strays(b, control) || markup(b) && control*5 <= len(b)
}

// strays reports whether a short text of lines has one or two control characters, as where a program left a zero byte.
func strays(b []byte, control int) bool {
	return control <= 2 && control*3 <= len(b) && len(b) < 1024 && ascii(b) && b[len(b)-1] == '\n'
}

// ascii reports whether all bytes are below 128.
func ascii(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// markup reports whether a text with control characters is a web page nevertheless.
func markup(b []byte) bool {
	low := bytes.ToLower(bytes.TrimLeft(b[:min(len(b), 4096)], "\x00 \t\r\n"))
	return bytes.HasPrefix(low, []byte("<html")) || bytes.HasPrefix(low, []byte("<!doctype html"))
}

// Line returns the detection of one file as `odarchive detect --json` prints it, without the line end.
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
