// Package detect says what kind of file some bytes are: media type, character encoding and compression.
package detect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"odarchive/crawler/charset"
)

// Input is a file to be recognised.
type Input struct {
	Name     string      // file name or URL path; "" if there is none
	Declared string      // Content-Type header or a catalog's format field; "" if there is none
	Size     int64       // of Body in bytes
	Body     io.ReaderAt // at least Size bytes
}

// Detection is what a file was found to be.
type Detection struct {
	Type        string  // media type without parameters
	Charset     string  // encoding of a text, "" for binary files
	Compression string  // "" or gzip, bzip2, xz, zstd, lz4, compress, brotli: of the file as a whole
	Confidence  float64 // 0 to 1
	Because     string  // one readable sentence
}

// File recognises in. It reads a bounded part of the body and fails only if the body cannot be read.
func File(ctx context.Context, in Input) (Detection, error) {
	head := make([]byte, min(in.Size, 64<<10))
	n, err := in.Body.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Detection{}, fmt.Errorf("detect: read %s: %w", in.Name, err)
	}
	head = head[:n]
	t, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	d := Detection{Type: t, Confidence: 0.5, Because: "by its first bytes"}
	if strings.HasPrefix(t, "text/") {
		d.Charset = charset.Detect(head, "").Name
	}
	return d, nil
}

// Line is the detection of one file as `odarchive detect --json` prints it, without the line end.
func (d Detection) Line(file string) ([]byte, error) {
	b, err := json.Marshal(struct {
		File        string `json:"file"`
		MIME        string `json:"mime"`
		Encoding    string `json:"encoding"`
		Compression string `json:"compression"`
		Because     string `json:"because"`
	}{file, d.Type, d.Charset, d.Compression, d.Because})
	if err != nil {
		return nil, fmt.Errorf("detect: %s: %w", file, err)
	}
	return b, nil
}
