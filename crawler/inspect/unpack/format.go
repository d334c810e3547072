package unpack

import (
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

type format byte

const (
	none format = iota
	zipFile
	tarFile
	sevenZip
	rarFile
	gzipped
	bzipped
	xzipped
	lzmaed
	zstded
	lz4ed
	brotlied
	lzwed // compress, .Z
)

// maxDictionary is how much memory a decoder may ask for to look back, in bytes.
const maxDictionary = 256 << 20

// formatOf knows media types and file name extensions.
func formatOf(mediaType string) format {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch strings.TrimSpace(t) {
	case "application/zip", "application/x-zip-compressed", "application/vnd.google-earth.kmz", "application/epub+zip", "application/java-archive",
		"application/x-zip":
		return zipFile
	case "application/x-tar", "application/x-gtar":
		return tarFile
	case "application/x-7z-compressed":
		return sevenZip
	case "application/vnd.rar", "application/x-rar-compressed", "application/x-rar":
		return rarFile
	case "application/gzip", "application/x-gzip", "gzip":
		return gzipped
	case "application/x-bzip2", "application/x-bzip", "bzip2":
		return bzipped
	case "application/x-xz", "application/xz", "xz":
		return xzipped
	case "application/x-lzma", "lzma":
		return lzmaed
	case "application/zstd", "application/x-zstd", "zstd":
		return zstded
	case "application/x-lz4", "application/lz4", "lz4":
		return lz4ed
	case "application/x-brotli", "application/brotli", "brotli":
		return brotlied
	case "application/x-compress", "application/x-compressed", "compress":
		return lzwed
	}
	return none
}

// sniff knows a format by its first bytes; brotli has none.
func sniff(r io.ReaderAt, size int64) format {
	head := make([]byte, min(size, 512))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	has := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case has("PK\x03\x04"), has("PK\x05\x06"), has("PK\x07\x08"):
		return zipFile
	case has("7z\xBC\xAF\x27\x1C"):
		return sevenZip
	case has("Rar!\x1A\x07"):
		return rarFile
	case has("\x1f\x8b"):
		return gzipped
	case has("BZh") && len(head) > 4 && head[3] >= '1' && head[3] <= '9':
		return bzipped
	case has("\xFD7zXZ\x00"):
		return xzipped
	case has("\x28\xB5\x2F\xFD"):
		return zstded
	case has("\x04\x22\x4D\x18"):
		return lz4ed
	case has("\x1f\x9d"):
		return lzwed
	case has("\x5D\x00\x00") && len(head) > 13 && lzma.ValidHeader(head[:13]):
		return lzmaed
	case isTar(head):
		return tarFile
	}
	return none
}

// isTar checks the magic of POSIX and GNU tar, or the checksum of an older header.
func isTar(b []byte) bool {
	if len(b) < 512 {
		return false
	}
	if string(b[257:262]) == "ustar" {
		return true
	}
	sum, field := 0, 0
	for i, c := range b[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	digits := 0
	for _, c := range b[148:156] {
		if c >= '0' && c <= '7' {
			field = field*8 + int(c-'0')
			digits++
		} else if c != ' ' && c != 0 {
			return false
		}
	}
	return digits >= 4 && sum == field && b[0] != 0
}

// mayBePacked tells from its name whether a member is worth opening as an archive.
func mayBePacked(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".zip", ".kmz", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar", ".gz", ".bz2", ".xz", ".lzma", ".zst", ".lz4", ".z":
		return true
	}
	return false
}

// strippedName is a compressed file's name without the ending that says so.
func strippedName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	ext := strings.ToLower(path.Ext(base))
	switch ext {
	case ".gz", ".bz2", ".xz", ".lzma", ".zst", ".lz4", ".br", ".z", ".zstd", ".brotli":
		base = base[:len(base)-len(ext)]
	case ".tgz", ".tbz", ".tbz2", ".txz", ".tzst":
		base = base[:len(base)-len(ext)] + ".tar"
	}
	if base == "" || base == "." || base == "/" {
		return "content"
	}
	return base
}

// decompress opens one compressed stream. name and modified are what the stream says of its content.
func decompress(f format, src io.Reader, b *budget) (rc io.ReadCloser, name string, modified time.Time, err error) {
	defer recovered(&err)
	var out io.Reader
	var closing func() error
	switch f {
	case gzipped:
		g, gerr := gzip.NewReader(src)
		if gerr != nil {
			return nil, "", modified, fmt.Errorf("gzip: %w", gerr)
		}
		out, name, modified, closing = g, g.Name, g.ModTime, g.Close
	case bzipped:
		out = bzip2.NewReader(src)
	case xzipped:
		head := make([]byte, 32)
		n, _ := io.ReadFull(src, head)
		if d := xzDictionary(head[:n]); d > maxDictionary {
			return nil, "", modified, fmt.Errorf("xz: a dictionary of %d bytes: %w", d, ErrBomb)
		}
		out, err = xz.NewReader(io.MultiReader(bytes.NewReader(head[:n]), src))
	case lzmaed:
		out, err = lzma.ReaderConfig{DictCap: maxDictionary}.NewReader(src)
	case zstded:
		z, zerr := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
		if zerr != nil {
			return nil, "", modified, fmt.Errorf("zstd: %w", zerr)
		}
		out, closing = z, func() error { z.Close(); return nil }
	case lz4ed:
		out = lz4.NewReader(src)
	case brotlied:
		out = brotli.NewReader(src)
	case lzwed:
		out, err = newLZW(src)
	default:
		err = ErrFormat
	}
	if err != nil {
		return nil, "", modified, err
	}
	return &counted{Reader: out, b: b, close: closing}, name, modified, nil
}

// xzDictionary is the size of the dictionary that the first block of an xz stream asks for (xz file format 3.1, 5.3.1).
func xzDictionary(head []byte) int64 {
	if len(head) < 20 || head[12] == 0 || head[13]&0xC0 != 0 {
		return 0
	}
	for i := 14; i+2 < len(head); i++ {
		if head[i] == 0x21 && head[i+1] == 1 { // LZMA2, one byte of properties
			d := head[i+2] & 0x3F
			if d >= 40 {
				return 1<<32 - 1
			}
			return int64(2|d&1) << (d/2 + 11)
		}
	}
	return 0
}
