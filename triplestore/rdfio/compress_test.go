package rdfio_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"odarchive/triplestore/rdfio"
)

// hello is "hello hello hello\n" compressed by bzip2, for which Go has no encoder.
const helloBzip2 = "QlpoOTFBWSZTWeW18wkAAARRAAAQQAACRKAAIbUYDAKQacKjC7kinChIctr5hIA="

func compressed(tb testing.TB, ext string, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch ext {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		w, err = zstd.NewWriter(&b)
	case ".xz":
		w, err = xz.NewWriter(&b)
	case ".bz2":
		raw, err := base64.StdEncoding.DecodeString(helloBzip2)
		if err != nil {
			tb.Fatal(err)
		}
		return raw
	}
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestCompressionIsFoundByItsFirstBytes(t *testing.T) {
	t.Parallel()
	hello := []byte("hello hello hello\n")
	for _, ext := range []string{".gz", ".zst", ".xz", ".bz2"} {
		for _, name := range []string{"x.nt" + ext, "x.nt", "x.nt.gz"} {
			r, err := rdfio.Decompress(bytes.NewReader(compressed(t, ext, hello)), name)
			if err != nil {
				t.Errorf("%s as %s: %v", ext, name, err)
				continue
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, hello) {
				t.Errorf("%s as %s: %q, %v", ext, name, got, err)
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: close: %v", ext, err)
			}
			if _, err := r.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: a closed reader reads", ext)
			}
		}
	}
	twice := append(compressed(t, ".gz", hello), compressed(t, ".gz", hello)...)
	r, err := rdfio.Decompress(bytes.NewReader(twice), "x.gz")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || len(got) != 2*len(hello) {
		t.Errorf("two gzip members: %q, %v", got, err)
	}
}

func TestXZWithSeveralStreamsBlocksAndChecksIsRead(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("hello, this is a longer text. "), 5000)
	var file, want []byte
	for i, check := range []byte{xz.CRC32, xz.CRC64, xz.SHA256} {
		var b bytes.Buffer
		w, err := xz.WriterConfig{CheckSum: check, BlockSize: 40_001}.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file = append(append(file, b.Bytes()...), make([]byte, 4*i)...)
		want = append(want, text...)
	}
	r, err := rdfio.Decompress(bytes.NewReader(file), "x.xz")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestAnXZBlockCannotAskForGigabytes(t *testing.T) {
	t.Parallel()
	file := compressed(t, ".xz", []byte("hello"))
	header := file[12 : 12+(int(file[12])+1)*4]
	at := bytes.Index(header, []byte{0x21, 1}) + 2
	header[at] = 40
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	r, err := rdfio.Decompress(bytes.NewReader(file), "x.xz")
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if !errors.Is(err, rdfio.ErrLimit) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNotCompressedStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "<", "<a:b> <c:d> <e:f> .\n", "BZh", "BZhx", "\x1F\x8B"} {
		r, err := rdfio.Decompress(strings.NewReader(doc), "x.nt")
		if err != nil {
			t.Errorf("%q: %v", doc, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != doc {
			t.Errorf("%q: %q, %v", doc, got, err)
		}
	}
}

func TestDamagedInputIsAnError(t *testing.T) {
	t.Parallel()
	hello := bytes.Repeat([]byte("hello, this is a longer text. "), 500)
	for _, ext := range []string{".gz", ".zst", ".xz"} {
		whole := compressed(t, ext, hello)
		for n := 1; n < len(whole); n++ {
			r, err := rdfio.Decompress(bytes.NewReader(whole[:n]), "x"+ext)
			if err != nil {
				continue
			}
			if got, err := io.ReadAll(r); err == nil {
				t.Errorf("%s cut off after %d of %d bytes read as %d bytes", ext, n, len(whole), len(got))
			}
			r.Close()
		}
	}
}

func TestBombsMeetTheLimits(t *testing.T) {
	t.Parallel()
	bomb := make([]byte, 8<<20)
	for _, ext := range []string{".gz", ".zst", ".xz"} {
		data := compressed(t, ext, bomb)
		for name, d := range map[string]rdfio.Decompression{
			"ratio": {Ratio: 100, Floor: 1 << 20},
			"size":  {Max: 1 << 20},
		} {
			r, err := d.Open(bytes.NewReader(data), "x"+ext)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, r)
			if !errors.Is(err, rdfio.ErrLimit) || n > 2<<20 {
				t.Errorf("%s, %s: %d bytes, %v", ext, name, n, err)
			}
			r.Close()
		}
	}
}
