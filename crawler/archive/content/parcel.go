package content

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"odarchive/triplestore/compression"
)

// A parcel is a file as it will be in a pack, made where there is no store: the segments with their heads, of which
// only the numbers of the extents are missing. PlaceParcel stores one without compressing anything again. FORMAT.md has
// the format.

const (
	parcelMagic = "ODPARCL1"
	parcelHead  = len(parcelMagic) + 32 + 16 + 4 + 8
	maxParcel   = int64(1) << 40 // bytes of the file
)

// ErrParcel is the error for a parcel that is malformed or differs from its checksums.
var ErrParcel = errors.New("not a sound parcel")

func errParcel(format string, args ...any) error {
	return fmt.Errorf("content: %w: %s", ErrParcel, fmt.Sprintf(format, args...))
}

// Source is a file that is to be wrapped. Its digests are known.
type Source interface {
	io.ReaderAt
	Size() int64
	Digests() Digests
	CRC32() uint32 // IEEE
}

// Wrapper makes parcels. It may be used concurrently.
type Wrapper struct{ codecs *codecs }

// NewWrapper returns a Wrapper that deflates as a store does with Options.Level.
func NewWrapper(level int) *Wrapper {
	return &Wrapper{newCodecs(Options{Level: level}.withDefaults().Level)}
}

// Wrap writes the parcel of a file.
func (w *Wrapper) Wrap(ctx context.Context, src Source, to io.Writer) error {
	d, size := src.Digests(), src.Size()
	b := append(make([]byte, 0, parcelHead), parcelMagic...)
	b = append(append(b, d.SHA256[:]...), d.MD5[:]...)
	b = binary.BigEndian.AppendUint32(b, src.CRC32())
	b = binary.BigEndian.AppendUint64(b, uint64(size))
	if _, err := to.Write(b); err != nil {
		return fmt.Errorf("content: wrap: %w", err)
	}
	codec := w.codecs.get()
	defer w.codecs.put(codec)
	raw := make([]byte, min(size, maxRaw))
	count := (size + maxRaw - 1) / maxRaw
	for k := range count {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from, until := size*k/count, size*(k+1)/count
		raw = raw[:until-from]
		if n, err := src.ReadAt(raw, from); n < len(raw) {
			return fmt.Errorf("content: wrap: read: %w", err)
		}
		body, err := codec.deflate(raw)
		if err != nil {
			return fmt.Errorf("content: wrap: deflate: %w", err)
		}
		b = appendSegment(b[:0], head{raw: len(raw), deflated: len(body), crc: crc32.ChecksumIEEE(raw)}, body)
		if _, err := to.Write(b); err != nil {
			return fmt.Errorf("content: wrap: %w", err)
		}
	}
	return nil
}

// parcel is a parcel that is being read.
type parcel struct {
	r    io.Reader
	d    digests
	size int64
	left int64 // of size
	buf  []byte

	deep bool      // segments are inflated
	sum  hash.Hash // of the file so far, if deep
	crc  uint32    // of the file so far
	raw  []byte    // of the last segment, if deep
}

// openParcel reads the head of a parcel. With deep, next inflates the segments and compares the bytes with all digests.
func openParcel(r io.Reader, deep bool) (*parcel, error) {
	b := make([]byte, parcelHead)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, errParcel("its head cannot be read (%v)", err)
	}
	if string(b[:len(parcelMagic)]) != parcelMagic {
		return nil, errParcel("it begins with %q", b[:len(parcelMagic)])
	}
	p := &parcel{r: r, deep: deep, sum: sha256.New()}
	rest := b[len(parcelMagic):]
	copy(p.d.sha[:], rest)
	copy(p.d.md5[:], rest[32:])
	p.d.crc = binary.BigEndian.Uint32(rest[48:])
	size := binary.BigEndian.Uint64(rest[52:])
	if size == 0 || size > uint64(maxParcel) {
		return nil, errParcel("its file has %d bytes", size)
	}
	p.size, p.left = int64(size), int64(size)
	return p, nil
}

// next reads the next segment and compares it with its checksums. The error is io.EOF after the last one, if all of
// them together are the file, as far as the checksums tell. body, and the inflated bytes in p.raw, are valid until the
// next call.
func (p *parcel) next() (h head, body []byte, err error) {
	if p.left == 0 {
		return h, nil, p.finish()
	}
	if cap(p.buf) < segmentHead+maxStored {
		p.buf = make([]byte, segmentHead+maxStored)
	}
	b := p.buf[:segmentHead]
	if _, err := io.ReadFull(p.r, b); err != nil {
		return h, nil, errParcel("it ends before its file does (%v)", err)
	}
	h, ok := parseHead(b)
	if !ok || h.mark != segmentMark || int64(h.raw) > p.left {
		return h, nil, errParcel("no segment begins where one should")
	}
	b = p.buf[:segmentHead+h.deflated]
	if _, err := io.ReadFull(p.r, b[segmentHead:]); err != nil {
		return h, nil, errParcel("it ends within a segment (%v)", err)
	}
	h, body, wrong := checkSegment(b)
	if wrong != "" {
		return h, nil, errParcel("a segment: %s", wrong)
	}
	p.left -= int64(h.raw)
	if !p.deep {
		p.crc = compression.CombineCRC(p.crc, h.crc, int64(h.raw))
		return h, body, nil
	}
	if cap(p.raw) < h.raw {
		p.raw = make([]byte, maxRaw)
	}
	p.raw = p.raw[:h.raw]
	if err := inflate(p.raw, body); err != nil {
		return h, nil, errParcel("a segment: %v", err)
	}
	if crc32.ChecksumIEEE(p.raw) != h.crc {
		return h, nil, errParcel("a segment holds other bytes than its checksum says")
	}
	p.sum.Write(p.raw)
	p.crc = crc32.Update(p.crc, crc32.IEEETable, p.raw)
	return h, body, nil
}

func (p *parcel) finish() error {
	var more [1]byte
	if n, _ := io.ReadFull(p.r, more[:]); n > 0 {
		return errParcel("it continues after its file")
	}
	if p.crc != p.d.crc || p.deep && Digest(p.sum.Sum(nil)) != p.d.sha {
		return errParcel("its bytes are not those of its digests")
	}
	return io.EOF
}

// Unwrap writes the file of a parcel, and returns its digests. An error that wraps ErrParcel may come after some bytes
// have been written.
func Unwrap(ctx context.Context, r io.Reader, to io.Writer) (Digests, error) {
	p, err := openParcel(r, true)
	if err != nil {
		return Digests{}, err
	}
	for {
		if ctx.Err() != nil {
			return Digests{}, context.Cause(ctx)
		}
		_, _, err := p.next()
		if err == io.EOF {
			return Digests{SHA256: p.d.sha, MD5: p.d.md5}, nil
		}
		if err == nil {
			_, err = to.Write(p.raw)
		}
		if err != nil {
			return Digests{}, err
		}
	}
}

// PlaceParcel is Place for a file in a parcel, whose segments are stored as they are. It compares sizes and checksums,
// but inflates nothing: whoever wrapped the file has computed its SHA-256, which Verify compares later, as for any
// file. Options.Previous has no effect: a parcel is stored whole. The error wraps ErrParcel if the parcel is not sound,
// and ErrDigest if it is that of another file than Options.Known; then nothing is stored.
func (s *Store) PlaceParcel(ctx context.Context, r io.Reader, o PutOptions) (*Placed, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	src, err := openParcel(r, false)
	if err != nil {
		return nil, err
	}
	if o.Known != nil && (Digest(o.Known.SHA256) != src.d.sha || o.Known.MD5 != src.d.md5) {
		return nil, fmt.Errorf("content: %w: expected %s, got %s", ErrDigest, Digest(o.Known.SHA256), src.d.sha)
	}
	unlock, err := s.files.lock(ctx, src.d.sha)
	if err != nil {
		return nil, err
	}
	p := &Placed{s: s, leave: []func(){unlock}}
	ref, ok, err := s.findLocked(src.d.sha)
	if ok && err == nil {
		p.Release()
		return &Placed{s: s, ref: ref}, nil
	}
	if err == nil {
		err = s.room()
	}
	if err == nil {
		err = p.placeParcel(ctx, src, o)
	}
	if err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

func (p *Placed) placeParcel(ctx context.Context, src *parcel, o PutOptions) error {
	s := p.s
	p.put = &put{s: s, label: o.Label, records: make(packDeltas),
		file: fileRecord{sha: src.d.sha, md5: src.d.md5, crc: src.d.crc, size: src.size}}
	done, err := s.tail.enter()
	if err != nil {
		return err
	}
	p.leave = append(p.leave, done)
	if err := p.put.writeParcel(ctx, src); err != nil {
		return err
	}
	if o.Written != nil {
		o.Written()
	}
	return p.finish(ctx)
}

// writeParcel appends the segments of a parcel to the pack, and the records of the file.
func (p *put) writeParcel(ctx context.Context, src *parcel) (err error) {
	w := &segmentWriter{s: p.s}
	defer func() {
		if err != nil {
			p.s.tail.truncateLast(&w.appender)
		}
		p.written = &w.appender
	}()
	if p.file.family, err = p.s.nums.allocate(); err != nil {
		return err
	}
	var open *extent
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h, body, err := src.next()
		if err == io.EOF {
			return p.appendRecords(w)
		}
		if err != nil {
			return err
		}
		if open == nil || len(open.segments) == maxExtent {
			if open, err = p.newExtent(); err != nil {
				return err
			}
		}
		if err := w.add(open, segment{raw: h.raw, deflated: h.deflated, crc: h.crc}, body); err != nil {
			return err
		}
		p.addRun(open.num, len(open.segments)-1, 1)
		p.file.deflateSize += int64(h.deflated)
	}
}
