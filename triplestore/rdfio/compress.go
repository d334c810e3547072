package rdfio

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Decompression bounds what a compressed input may become. The zero value is useful.
type Decompression struct {
	Ratio int64 // bytes out per byte in, once Floor has been passed; default 1,000
	Floor int64 // bytes out that are always allowed; default 64 MiB
	Max   int64 // bytes out altogether; 0 is no limit
}

// maxWindow is the most memory a decoder may take for the history it needs.
const maxWindow = 128 << 20

// Decompress opens r if it is compressed (gzip, bzip2, xz, zstd), which its first bytes tell; the name only decides what
// an input too short for that is. What is not compressed comes back as it is. The answer's Close frees the decoder and
// leaves r alone.
func Decompress(r io.Reader, name string) (io.ReadCloser, error) {
	return Decompression{}.Open(r, name)
}

// Open is Decompress with limits of the caller's. Passing one is an error with ErrLimit in its chain.
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
	kind := compressionByMagic(head)
	if kind == "" {
		if len(head) > 0 && len(head) < 6 && compressionByName(name) != "" {
			return nil, fmt.Errorf("rdfio: %s is cut off: %w", name, io.ErrUnexpectedEOF)
		}
		return io.NopCloser(br), nil
	}
	out := &boundedReader{name: name, in: in, lim: d, close: func() {}}
	switch kind {
	case ".gz":
		out.r, err = gzip.NewReader(br)
	case ".bz2":
		out.r = bzip2.NewReader(br)
	case ".xz":
		out.r, err = xz.NewReader(&xzWatch{r: br, state: (*xzWatch).between})
	case ".zst":
		var z *zstd.Decoder
		z, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err == nil {
			out.r, out.close = z, z.Close
		}
	}
	if err != nil {
		return nil, fmt.Errorf("rdfio: opening %s: %w", name, err)
	}
	return out, nil
}

// compressionByName is the ending of a compressed file's name, "" for none.
func compressionByName(name string) string {
	name = strings.ToLower(name)
	for _, ext := range []string{".gz", ".bz2", ".xz", ".zst", ".zstd"} {
		if strings.HasSuffix(name, ext) {
			return ext
		}
	}
	return ""
}

func compressionByMagic(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B, 8}):
		return ".gz"
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 3 && '1' <= head[3] && head[3] <= '9':
		return ".bz2"
	case bytes.HasPrefix(head, []byte("\xFD7zXZ\x00")):
		return ".xz"
	case bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}),
		len(head) > 3 && head[0]&0xF0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2A, 0x4D, 0x18}): // a skippable frame
		return ".zst"
	}
	return ""
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

// boundedReader keeps a decoder within its limits and its panics inside.
type boundedReader struct {
	name  string
	r     io.Reader
	in    *countingReader
	n     int64
	lim   Decompression
	close func()
	err   error
}

func (b *boundedReader) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("rdfio: %s: damaged: %v", b.name, e)
		}
		b.err = err
	}()
	n, err = b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.lim.Max > 0 && b.n > b.lim.Max:
		err = fmt.Errorf("rdfio: %s: %w", b.name, limitError("a decompressed size", b.lim.Max))
	case b.n > b.lim.Floor && b.n/b.lim.Ratio > b.in.n:
		err = fmt.Errorf("rdfio: %s: %w", b.name, limitError("a compression ratio", b.lim.Ratio))
	case err != nil && err != io.EOF:
		err = fmt.Errorf("rdfio: decompressing %s: %w", b.name, err)
	}
	if errors.Is(err, ErrLimit) {
		n = 0
	}
	return n, err
}

func (b *boundedReader) Close() error {
	b.close()
	b.close = func() {}
	b.err = errors.New("rdfio: read of a closed reader")
	return nil
}
