package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"odarchive/triplestore/compression"
)

// format is a compression format or one of the formats of archives.
type format = compression.Format

const (
	none     format = ""
	zipFile  format = "zip"
	tarFile  format = "tar"
	sevenZip format = "7z"
	rarFile  format = "rar"
)

// maxDictionary is the maximum memory that a decoder may use to look back, in bytes.
const maxDictionary = 256 << 20

// formatOf returns the format of a media type, or of a compression as package detect names it.
func formatOf(mediaType string) format {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch t = strings.TrimSpace(t); t {
	case "application/zip", "application/x-zip-compressed", "application/vnd.google-earth.kmz", "application/epub+zip",
		"application/java-archive",
		"application/x-zip":
		return zipFile
	case "application/x-tar", "application/x-gtar":
		return tarFile
	case "application/x-7z-compressed":
		return sevenZip
	case "application/vnd.rar", "application/x-rar-compressed", "application/x-rar":
		return rarFile
	}
	return compression.ByName(t)
}

// sniff returns the format that the first bytes of a file show. Brotli has no signature.
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
	case isTar(head):
		return tarFile
	}
	return compression.Sniff(head)
}

// isTar reports whether b begins with the magic of POSIX and GNU tar, or has the checksum of an older header.
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

// mayBePacked reports whether the name of a member is one of an archive or compressed file.
func mayBePacked(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".zip", ".kmz", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar", ".gz", ".bz2", ".xz", ".lzma", ".zst", ".lz4",
		".z":
		return true
	}
	return false
}

// strippedName returns a compressed file's name without the extension of its compression.
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

// decompress opens one compressed stream. name and modified are what the stream says about its content.
func decompress(f format, src io.Reader, b *output) (rc io.ReadCloser, name string, modified time.Time, err error) {
	s, err := compression.Open(src, f, compression.Options{MaxWindow: maxDictionary})
	if err != nil {
		return nil, "", time.Time{}, classified(err)
	}
	return &counted{Reader: s, b: b, close: s.Close}, s.Name, s.Modified, nil
}

// classified adds to a decoder's error the one that callers look for.
func classified(err error) error {
	switch {
	case errors.Is(err, compression.ErrWindow):
		return fmt.Errorf("%w: %w", ErrBomb, err)
	case errors.Is(err, compression.ErrFormat):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}
