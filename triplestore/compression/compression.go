// Package compression opens compressed streams: gzip, deflate, bzip2, xz, lzma, zstd, brotli, lz4 and compress (.Z).
//
// The input may be hostile. Open bounds the memory that a decoder may use, and a decoder that panics returns an error.
// The package does not limit how much a stream decompresses to: callers do, since they know what is reasonable.
// Archives with several members (zip, tar, 7z, rar) are not its business.
package compression

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Format is a compression format, the zero value none.
type Format string

// The formats that Open reads.
const (
	Gzip    Format = "gzip"    // RFC 1952
	Deflate Format = "deflate" // HTTP's: zlib (RFC 1950), or raw deflate as some servers send it
	Bzip2   Format = "bzip2"
	XZ      Format = "xz"
	LZMA    Format = "lzma"
	Zstd    Format = "zstd"   // RFC 8878
	Brotli  Format = "brotli" // RFC 7932
	LZ4     Format = "lz4"
	LZW     Format = "compress" // compress(1), .Z
)

var (
	// ErrFormat is in the chain of an error about a stream that is not in the format it was opened as.
	ErrFormat = errors.New("malformed stream")
	// ErrWindow is in the chain of the error about an xz stream that needs a larger dictionary than Options allow.
	ErrWindow = errors.New("needs more memory than the limits allow")
)

// Sniff returns the format that the first bytes of a file show, "" if they show none. Six bytes suffice for all but
// lzma, which takes 13. Brotli and deflate have no magic number.
func Sniff(head []byte) Format {
	has := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case has("\x1f\x8b"):
		return Gzip
	case has("BZh") && len(head) > 3 && head[3] >= '1' && head[3] <= '9':
		return Bzip2
	case has("\xFD7zXZ\x00"):
		return XZ
	case has("\x28\xB5\x2F\xFD"):
		return Zstd
	case has("\x04\x22\x4D\x18"):
		return LZ4
	case has("\x1f\x9d"):
		return LZW
	case has("\x5D\x00\x00") && len(head) > 13 && lzma.ValidHeader(head[:13]):
		return LZMA
	}
	return ""
}

// ByName returns the format that a media type or the name of a compression stands for, "" if none.
func ByName(name string) Format {
	switch name {
	case "application/gzip", "application/x-gzip", "gzip":
		return Gzip
	case "application/x-bzip2", "application/x-bzip", "bzip2":
		return Bzip2
	case "application/x-xz", "application/xz", "xz":
		return XZ
	case "application/x-lzma", "lzma":
		return LZMA
	case "application/zstd", "application/x-zstd", "zstd":
		return Zstd
	case "application/x-lz4", "application/lz4", "lz4":
		return LZ4
	case "application/x-brotli", "application/brotli", "brotli":
		return Brotli
	case "application/x-compress", "application/x-compressed", "compress":
		return LZW
	}
	return ""
}

// Options say how a stream is read.
type Options struct {
	// MaxWindow is the number of bytes that a decoder may hold to look back; default 256 MiB. It bounds xz, lzma and
	// zstd; the other formats use at most 16 MiB.
	MaxWindow int64

	// Lenient reads HTTP bodies as browsers do: an empty stream is valid, bytes after the last gzip member are
	// ignored, and the stream is opened by the first Read, which returns the error if that fails.
	Lenient bool
}

// Stream is the decompressed content of a stream. It is not safe for concurrent use.
type Stream struct {
	Name     string    // file name in the gzip header, "" if none
	Modified time.Time // modification time in the gzip header, zero if none

	open  func() (io.Reader, error) // nil once r is open
	r     io.Reader
	close func()
	err   error // returned by all further reads
}

// Open returns the decompressed content of src. Close frees the decoder and leaves src open.
func Open(src io.Reader, f Format, o Options) (*Stream, error) {
	if o.MaxWindow == 0 {
		o.MaxWindow = 256 << 20
	}
	s := &Stream{}
	s.open = func() (io.Reader, error) { return s.decoder(src, f, o) }
	if o.Lenient {
		return s, nil
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// start opens the decoder.
func (s *Stream) start() (err error) {
	defer recoverError(&err)
	s.r, err = s.open()
	s.open = nil
	return err
}

func (s *Stream) decoder(src io.Reader, f Format, o Options) (io.Reader, error) {
	switch f {
	case Gzip:
		if o.Lenient {
			return openMembers(src)
		}
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		s.Name, s.Modified = z.Name, z.ModTime
		return z, nil
	case Deflate:
		return openDeflate(src)
	case Bzip2:
		return bzip2.NewReader(src), nil
	case XZ:
		return xz.NewReader(newXZGuard(src, o.MaxWindow))
	case LZMA:
		return lzma.ReaderConfig{DictCap: int(o.MaxWindow)}.NewReader(src)
	case Zstd:
		z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(o.MaxWindow)))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		s.close = z.Close
		return z, nil
	case Brotli:
		return brotli.NewReader(src), nil
	case LZ4:
		return lz4.NewReader(src), nil
	case LZW:
		return newLZW(src)
	}
	return nil, fmt.Errorf("%w: unknown format %q", ErrFormat, f)
}

// Read reads decompressed bytes. Once it has returned an error, it returns that error again.
func (s *Stream) Read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	defer func() {
		if err != nil {
			s.err = err
			s.free()
		}
	}()
	defer recoverError(&err)
	if s.open != nil {
		if err := s.start(); err != nil {
			return 0, err
		}
	}
	return s.r.Read(p)
}

// Close frees the decoder. Further reads fail.
func (s *Stream) Close() error {
	s.free()
	s.open, s.err = nil, errors.New("compression: read from a closed stream")
	return nil
}

// free returns the decoder's memory.
func (s *Stream) free() {
	if s.close != nil {
		s.close()
		s.close = nil
	}
}

// recoverError turns a decoder's panic into an error.
func recoverError(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("%w: the decoder failed: %.200v", ErrFormat, x)
	}
}

// members reads the members of a gzip stream and stops at what follows them: some servers pad.
type members struct {
	src *bufio.Reader
	z   *gzip.Reader
}

func openMembers(src io.Reader) (io.Reader, error) {
	m := &members{src: bufio.NewReader(src)}
	var err error
	if m.z, err = gzip.NewReader(m.src); err != nil {
		return nil, err // io.EOF if src is empty
	}
	m.z.Multistream(false)
	return m, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && err == io.EOF {
			err = nil
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if magic, err := m.src.Peek(2); err != nil || Sniff(magic) != Gzip {
			return 0, io.EOF
		}
		if err := m.z.Reset(m.src); err != nil {
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// openDeflate reads zlib if the first two bytes are a zlib header, raw deflate otherwise.
func openDeflate(src io.Reader) (io.Reader, error) {
	r := bufio.NewReader(src)
	head, err := r.Peek(2)
	switch {
	case len(head) == 0:
		return nil, err
	case len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0:
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}
