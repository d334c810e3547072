package compression

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

const hello = "hello hello hello\n"

// samples returns hello in every format that there is an encoder for, and bzip2 and compress as their programs wrote
// it.
func samples(tb testing.TB) map[Format][]byte {
	tb.Helper()
	all := map[Format][]byte{}
	add := func(f Format, open func(io.Writer) (io.WriteCloser, error)) {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, hello); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		all[f] = b.Bytes()
	}
	add(Gzip, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	add(Deflate, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
	add(XZ, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	add(LZMA, func(w io.Writer) (io.WriteCloser, error) { return lzma.NewWriter(w) })
	add(Zstd, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	add(Brotli, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil })
	add(LZ4, func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil })
	var err error
	if all[Bzip2], err = base64.StdEncoding.DecodeString("QlpoOTFBWSZTWeW18wkAAARRAAAQQAACRKAAIbUYDAKQacKjC7kinChIctr5hIA="); err != nil {
		tb.Fatal(err)
	}
	all[LZW] = []byte{0x1f, 0x9d, 0x90} // nine-bit codes of the letters
	var bits, n uint
	for _, c := range []byte(hello) {
		bits |= uint(c) << n
		for n += 9; n >= 8; n -= 8 {
			all[LZW] = append(all[LZW], byte(bits))
			bits >>= 8
		}
	}
	all[LZW] = append(all[LZW], byte(bits))
	return all
}

func TestEveryFormatIsSniffedAndRead(t *testing.T) {
	t.Parallel()
	for f, data := range samples(t) {
		if want := f; f != Brotli && f != Deflate && Sniff(data) != want {
			t.Errorf("%s is sniffed as %q", f, Sniff(data))
		}
		for _, o := range []Options{{}, {Lenient: true}} {
			s, err := Open(bytes.NewReader(data), f, o)
			if err != nil {
				t.Errorf("%s: %v", f, err)
				continue
			}
			if got, err := io.ReadAll(s); err != nil || string(got) != hello {
				t.Errorf("%s: %q, %v", f, got, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", f, err)
			}
			if _, err := s.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: a closed stream reads", f)
			}
		}
	}
}

func TestATruncatedStreamIsAnError(t *testing.T) {
	t.Parallel()
	for f, data := range samples(t) {
		if f == LZW {
			continue // compress marks no end
		}
		for n := 1; n < len(data); n++ {
			s, err := Open(bytes.NewReader(data[:n]), f, Options{})
			if err == nil {
				_, err = io.ReadAll(s)
			}
			if err == nil {
				t.Errorf("%s: %d of %d bytes are no error", f, n, len(data))
			}
		}
	}
}

func TestLenientReadingForgivesWhatServersDo(t *testing.T) {
	t.Parallel()
	gz := samples(t)[Gzip]
	var raw bytes.Buffer
	w, err := flate.NewWriter(&raw, 6)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, hello)
	w.Close()
	for name, c := range map[string]struct {
		format     Format
		data, want string
	}{
		"empty gzip":    {Gzip, "", ""},
		"empty deflate": {Deflate, "", ""},
		"padded gzip":   {Gzip, string(gz) + "\x00\x00", hello},
		"two members":   {Gzip, string(gz) + string(gz), hello + hello},
		"raw deflate":   {Deflate, raw.String(), hello},
	} {
		s, err := Open(strings.NewReader(c.data), c.format, Options{Lenient: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(s); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	s, err := Open(strings.NewReader(string(gz)+"\x00\x00"), Gzip, Options{})
	if err == nil {
		_, err = io.ReadAll(s)
	}
	if err == nil {
		t.Error("padding is no error")
	}
}

func TestAWindowBeyondTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 20}.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, hello)
	w.Close()
	s, err := Open(&b, XZ, Options{MaxWindow: 1 << 16})
	if err == nil {
		_, err = io.ReadAll(s)
	}
	if !errors.Is(err, ErrWindow) {
		t.Errorf("xz: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	for format, data := range samples(f) {
		f.Add(string(format), data)
	}
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		s, err := Open(bytes.NewReader(data), Format(format), Options{MaxWindow: 1 << 20, Lenient: len(data)%2 == 0})
		if err != nil {
			return
		}
		io.CopyN(io.Discard, s, 1<<20)
		s.Close()
	})
}
