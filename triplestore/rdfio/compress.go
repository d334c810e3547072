package rdfio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"odarchive/triplestore/compression"
)

// Decompression bounds what a compressed input may become. The zero value is useful.
type Decompression struct {
	Ratio int64 // maximum bytes out per byte in, beyond Floor; default 1,000
	Floor int64 // bytes out that are always allowed; default 64 MiB
	Max   int64 // maximum bytes out; 0 is no limit
}

// maxWindow is the maximum memory that a decoder may use to look back, in bytes.
const maxWindow = 128 << 20

// Decompress returns the content of r, decompressed if r is compressed. The first bytes show the format; name only
// decides whether an input too short for that is truncated. Close frees the decoder and leaves r open.
func Decompress(r io.Reader, name string) (io.ReadCloser, error) {
	return Decompression{}.Open(r, name)
}

// Open is Decompress with limits. Exceeding one is an error with ErrLimit in its chain.
func (d Decompression) Open(r io.Reader, name string) (io.ReadCloser, error) {
	if d.Ratio <= 0 {
		d.Ratio = 1000
	}
	if d.Floor <= 0 {
		d.Floor = 64 << 20
	}
	in := &countingReader{r: r}
	br := bufio.NewReaderSize(in, windowSize)
	head, err := br.Peek(6)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("rdfio: reading %s: %w", name, err)
	}
	format := compression.Sniff(head)
	if len(head) > 3 && head[0]&0xF0 == 0x50 && string(head[1:4]) == "\x2A\x4D\x18" { // a skippable frame
		format = compression.Zstd
	}
	if format == compression.Gzip && (len(head) < 3 || head[2] != 8) {
		format = ""
	}
	if format == "" {
		if len(head) > 0 && len(head) < 6 && isCompressedName(name) {
			return nil, fmt.Errorf("rdfio: %s is truncated: %w", name, io.ErrUnexpectedEOF)
		}
		return io.NopCloser(br), nil
	}
	s, err := compression.Open(br, format, compression.Options{MaxWindow: maxWindow})
	if err != nil {
		return nil, fmt.Errorf("rdfio: opening %s: %w", name, windowLimit(err))
	}
	return &boundedReader{Stream: s, name: name, in: in, lim: d}, nil
}

// windowLimit adds ErrLimit to the error about a decoder that needs too much memory.
func windowLimit(err error) error {
	if errors.Is(err, compression.ErrWindow) {
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return err
}

// isCompressedName reports whether a file name ends as those of compressed files do.
func isCompressedName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".gz", ".bz2", ".xz", ".zst", ".zstd":
		return true
	}
	return false
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// boundedReader is a decoder whose output is limited.
type boundedReader struct {
	*compression.Stream
	name string
	in   *countingReader
	n    int64
	lim  Decompression
	err  error
}

func (b *boundedReader) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err = b.Stream.Read(p)
	b.n += int64(n)
	switch {
	case b.lim.Max > 0 && b.n > b.lim.Max:
		err = fmt.Errorf("rdfio: %s: %w", b.name, limitError("a decompressed size", b.lim.Max))
	case b.n > b.lim.Floor && b.n/b.lim.Ratio > b.in.n:
		err = fmt.Errorf("rdfio: %s: %w", b.name, limitError("a compression ratio", b.lim.Ratio))
	case err != nil && err != io.EOF:
		err = fmt.Errorf("rdfio: decompressing %s: %w", b.name, windowLimit(err))
	}
	if errors.Is(err, ErrLimit) {
		n = 0
	}
	b.err = err
	return n, err
}
