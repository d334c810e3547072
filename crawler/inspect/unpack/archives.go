package unpack

import (
	"archive/tar"
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf8"

	"github.com/nwaples/rardecode/v2"

	"odarchive/triplestore/compression"
)

func (w *walker) zip(r io.ReaderAt, size int64, prefix string, depth int) error {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for method, f := range map[uint16]format{12: compression.Bzip2, 93: compression.Zstd, 95: compression.XZ} {
		z.RegisterDecompressor(method, func(r io.Reader) io.ReadCloser {
			s, err := compression.Open(r, f, compression.Options{MaxWindow: maxDictionary})
			if err != nil {
				return io.NopCloser(failing{err})
			}
			return s
		})
	}
	for i, name := range zipNames(z.File) {
		f := z.File[i]
		if f.FileInfo().IsDir() || !f.Mode().IsRegular() {
			continue
		}
		m := Member{Size: int64(min(f.UncompressedSize64, 1<<62)), Modified: f.Modified, Depth: depth}
		m.Open = func() (io.ReadCloser, error) {
			if f.Flags&1 != 0 {
				return nil, ErrEncrypted
			}
			if err := w.output.foresee(name, m.Size, 0); err != nil {
				return io.NopCloser(failing{err}), nil // as if its bytes had exceeded them
			}
			rc, err := f.Open()
			if err != nil {
				return nil, err
			}
			return &counted{Reader: rc, b: w.output, close: rc.Close}, nil
		}
		if err := w.member(prefix, name, m); err != nil {
			return err
		}
	}
	return nil
}

// zipNames returns the members' names in UTF-8: from the Unicode path field if there is a valid one, else the name
// itself, whose encoding is guessed from all names if the archive does not declare it.
func zipNames(files []*zip.File) []string {
	names := make([]string, len(files))
	var unsaid []string
	var at []int
	for i, f := range files {
		names[i] = f.Name
		if u := unicodePath(f); u != "" {
			names[i] = u
		} else if f.NonUTF8 || !utf8.ValidString(f.Name) {
			unsaid = append(unsaid, f.Name)
			at = append(at, i)
		}
	}
	for i, n := range decodeNames(unsaid) {
		names[at[i]] = n
	}
	return names
}

// unicodePath returns the name in Info-ZIP's extra field 0x7075, "" if it is missing or outdated.
func unicodePath(f *zip.File) string {
	for e := f.Extra; len(e) >= 4; {
		id, n := binary.LittleEndian.Uint16(e), int(binary.LittleEndian.Uint16(e[2:]))
		if e = e[4:]; n > len(e) {
			return ""
		}
		if d := e[:n]; id == 0x7075 && n > 5 && d[0] == 1 && binary.LittleEndian.Uint32(d[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) &&
			utf8.Valid(d[5:]) {
			return string(d[5:])
		}
		e = e[n:]
	}
	return ""
}

func (w *walker) tar(r io.Reader, prefix string, depth int) error {
	t := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return fmt.Errorf("tar: %w", err)
		}
		if n > 4*w.limits.MaxMembers {
			return stop{ErrTooMany}
		}
		if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse && h.Typeflag != '7' {
			continue
		}
		name := h.Name
		if !utf8.ValidString(name) {
			name = decodeNames([]string{name})[0]
		}
		m := Member{Size: h.Size, Modified: h.ModTime, Depth: depth, Open: func() (io.ReadCloser, error) {
			return &counted{Reader: t, b: w.output}, nil
		}}
		if err := w.member(prefix, name, m); err != nil {
			return err
		}
	}
}

func (w *walker) rar(r io.ReaderAt, size int64, prefix string, depth int) error {
	z, err := rardecode.NewReader(io.NewSectionReader(r, 0, size), rardecode.MaxDictionarySize(maxDictionary))
	if err != nil {
		return fmt.Errorf("rar: %w", err)
	}
	for {
		h, err := z.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("rar: %w", err)
		}
		if h.IsDir || !h.Mode().IsRegular() {
			continue
		}
		n := h.UnPackedSize
		if h.UnKnownSize {
			n = -1
		}
		m := Member{Size: n, Modified: h.ModificationTime, Depth: depth, Open: func() (io.ReadCloser, error) {
			if h.Encrypted || h.HeaderEncrypted {
				return nil, ErrEncrypted
			}
			return &counted{Reader: z, b: w.output}, nil
		}}
		if err := w.member(prefix, h.Name, m); err != nil {
			return err
		}
	}
}

// failing is a reader that returns an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
