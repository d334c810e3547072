package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/bodgit/sevenzip"

	"odarchive/crawler/inspect/budget"
)

const (
	sevenMagic = "7z\xbc\xaf\x27\x1c"
	sevenStart = 32 // length of what a 7z file begins with

	maxSevenHeader = 32 << 20 // unpacked
)

// sevenArchive is a 7z file whose header has been looked into.
type sevenArchive struct {
	*sevenzip.Reader
	body    io.ReaderAt // with a header that is not packed
	size    int64
	folders []sevenFolderInfo
	held    uint64 // memory of decoders that the reader may keep for later files
}

// openSeven opens a 7z file after a look at its header. The decoder gets the header unpacked, so that it reads the
// bytes that were looked at.
func openSeven(r io.ReaderAt, size int64) (*sevenArchive, error) {
	start := make([]byte, sevenStart)
	if _, err := r.ReadAt(start, 0); err != nil || string(start[:6]) != sevenMagic {
		return nil, fmt.Errorf("%w: it does not begin as a 7z file", ErrFormat)
	}
	packed, length := binary.LittleEndian.Uint64(start[12:]), binary.LittleEndian.Uint64(start[20:])
	if room := uint64(size - sevenStart); packed > room || length > room-packed || length > maxSevenHeader || length == 0 {
		return nil, fmt.Errorf("%w: a header of %d bytes behind %d others in a file of %d", ErrFormat, length, packed, size)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, int64(sevenStart+packed)); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(start[12:]) != binary.LittleEndian.Uint32(start[8:]) ||
		crc32.ChecksumIEEE(header) != binary.LittleEndian.Uint32(start[28:]) {
		return nil, fmt.Errorf("%w: the checksum of its header is wrong", ErrFormat)
	}
	if header[0] == sevenEncoded {
		var err error
		if header, err = unpackedHeader(r, int64(packed), header[1:]); err != nil {
			return nil, err
		}
	}
	if len(header) == 0 || header[0] != sevenHeader {
		return nil, fmt.Errorf("%w: its header begins with no part that is known", ErrFormat)
	}
	scan := newSevenScan(header[1:])
	if scan.header(); scan.err != nil {
		return nil, scan.err
	}
	a := &sevenArchive{folders: scan.folders}
	a.body, a.size = withHeader(r, int64(packed), header[:len(header)-len(scan.rest)])
	return a, a.renew()
}

// unpackedHeader unpacks a header that is stored as streams, as the one file of an archive.
func unpackedHeader(r io.ReaderAt, packed int64, streams []byte) ([]byte, error) {
	scan := newSevenScan(streams)
	if scan.streams(); scan.err != nil {
		return nil, scan.err
	}
	if len(scan.rest) > 0 || len(scan.folders) != 1 || scan.folders[0].files != 1 {
		return nil, fmt.Errorf("%w: its header is packed in %d streams", ErrFormat, len(scan.folders))
	}
	if f := scan.folders[0]; f.memory > maxDictionary || f.size > maxSevenHeader {
		return nil, fmt.Errorf("the header would take %w: it unpacks to %d bytes with a window of %d", budget.ErrSpent, f.size, f.memory)
	}
	one := append([]byte{sevenHeader, sevenMainStreams}, streams...)
	one = append(one, sevenFiles, 1, sevenNames, 5, 0, 'h', 0, 0, 0, sevenEnd, sevenEnd)
	z, err := sevenzip.NewReader(withHeader(r, packed, one))
	if err != nil {
		return nil, locked(err)
	}
	if len(z.File) != 1 {
		return nil, fmt.Errorf("%w: its header is packed in %d files", ErrFormat, len(z.File))
	}
	body, err := z.File[0].Open()
	if err != nil {
		return nil, locked(err)
	}
	defer body.Close()
	header, err := io.ReadAll(io.LimitReader(body, maxSevenHeader))
	if err != nil {
		return nil, locked(err)
	}
	if scan.digest != 0 && crc32.ChecksumIEEE(header) != scan.digest {
		return nil, fmt.Errorf("%w: the checksum of its unpacked header is wrong", ErrFormat)
	}
	return header, nil
}

// withHeader returns the packed streams of a 7z file with another header.
func withHeader(r io.ReaderAt, packed int64, header []byte) (io.ReaderAt, int64) {
	start := make([]byte, sevenStart)
	copy(start, sevenMagic+"\x00\x04")
	binary.LittleEndian.PutUint64(start[12:], uint64(packed))
	binary.LittleEndian.PutUint64(start[20:], uint64(len(header)))
	binary.LittleEndian.PutUint32(start[28:], crc32.ChecksumIEEE(header))
	binary.LittleEndian.PutUint32(start[8:], crc32.ChecksumIEEE(start[12:]))
	return &spliced{start: start, body: r, end: sevenStart + packed, tail: header}, sevenStart + packed + int64(len(header))
}

// spliced is a file with another beginning and another end.
type spliced struct {
	start []byte
	body  io.ReaderAt
	end   int64 // of what is taken from body
	tail  []byte
}

func (s *spliced) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && err == nil {
		m, from := 0, at+int64(n)
		switch rest := p[n:]; {
		case from < int64(len(s.start)):
			m = copy(rest, s.start[from:])
		case from < s.end:
			m, err = s.body.ReadAt(rest[:min(int64(len(rest)), s.end-from)], from)
			if m > 0 && errors.Is(err, io.EOF) {
				err = nil
			}
		default:
			m, err = bytes.NewReader(s.tail).ReadAt(rest, from-s.end)
		}
		n += m
	}
	return n, err
}

// renew opens the archive anew, without the decoders that are kept.
func (a *sevenArchive) renew() error {
	z, err := sevenzip.NewReader(a.body, a.size)
	if err != nil {
		return fmt.Errorf("7z: %w", locked(err))
	}
	a.Reader, a.held = z, 0
	return nil
}

// open opens the i-th file within the memory of b.
func (a *sevenArchive) open(i int, b *budget.Budget) (io.ReadCloser, error) {
	f := a.File[i]
	if n := f.Stream; f.UncompressedSize > 0 && n < len(a.folders) {
		need := a.folders[n].memory
		b.Reset()
		if err := b.Spend(1, need); err != nil {
			return nil, err
		}
		if a.held += need; a.held > budget.Block {
			if err := a.renew(); err != nil {
				return nil, err
			}
			a.held = need
		}
	}
	rc, err := a.File[i].Open()
	if err != nil {
		return nil, locked(err)
	}
	return rc, nil
}

func (w *walker) sevenzip(r io.ReaderAt, size int64, prefix string, depth int) error {
	z, err := openSeven(r, size)
	if err != nil {
		return err
	}
	memory := budget.New("a member", budget.Block)
	end, done, stream := int64(0), int64(0), -1 // of the present folder: where the file ends, and what has been unpacked
	for i, f := range z.File {
		if f.UncompressedSize > 0 && f.Stream != stream {
			end, done, stream = 0, 0, f.Stream
		}
		n := int64(min(f.UncompressedSize, 1<<62))
		end += min(n, 1<<62-end)
		if f.FileInfo().IsDir() || !f.Mode().IsRegular() {
			continue
		}
		last := end
		m := Member{Size: n, Modified: f.Modified, Depth: depth, Open: func() (io.ReadCloser, error) {
			// What is before the file in its folder is unpacked with it.
			if err := w.output.foresee(f.Name, n, last-n-done); err != nil {
				return io.NopCloser(failing{err}), nil
			}
			done = last
			rc, err := z.open(i, memory)
			if err != nil {
				return nil, err
			}
			return &counted{Reader: unlocking{rc}, b: w.output, close: rc.Close}, nil
		}}
		if err := w.member(prefix, f.Name, m); err != nil {
			return err
		}
	}
	return nil
}

// locked returns ErrEncrypted for an error of bytes that were decrypted without their password, else err.
func locked(err error) error {
	if enc := (*sevenzip.ReadError)(nil); errors.As(err, &enc) && enc.Encrypted {
		return ErrEncrypted
	}
	return err
}

// unlocking is a reader of a member that may be encrypted: only its bytes show that the password is not "".
type unlocking struct{ io.Reader }

func (u unlocking) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil {
		err = locked(err)
	}
	return n, err
}
