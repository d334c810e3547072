package kv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"odarchive/triplestore/disk"
)

// A state file holds every entry of the database as of one number of the log, in ascending order. FORMAT.md describes
// it.
const (
	stateMagic  = "ODSTATE1"
	stateFamily = "ODSTATE"
	stateHead   = 8 + 8 + 4
	stateBlock  = 1 << 20 // bytes of entries compressed together
	blockHead   = 12
	maxBlock    = stateBlock + MaxValue + MaxKey + 64
)

// stateWriter writes a state file.
type stateWriter struct {
	f     disk.File
	w     *bufio.Writer
	enc   *zstd.Encoder
	sum   uint32 // checksum of the previous frame or of the head
	block []byte
	out   []byte
	last  []byte // previous key
	count uint64
	size  int64
}

func newStateWriter(f disk.File, number uint64) (*stateWriter, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(stateBlock), zstd.WithLowerEncoderMem(true)) // a larger window finds nothing more
	if err != nil {
		return nil, err
	}
	w := &stateWriter{f: f, w: bufio.NewWriterSize(f, 1<<20), enc: enc}
	head := binary.LittleEndian.AppendUint64([]byte(stateMagic), number)
	w.sum = crc32.Checksum(head, castagnoli)
	return w, w.write(binary.LittleEndian.AppendUint32(head, w.sum))
}

func (w *stateWriter) write(b []byte) error {
	n, err := w.w.Write(b)
	w.size += int64(n)
	return err
}

// add appends an entry. version is the number of the write set that wrote it.
func (w *stateWriter) add(key, val []byte, version uint64) error {
	if len(w.block) == 0 {
		w.last = w.last[:0] // so that each block can be read by itself
	}
	w.block = appendKey(w.block, w.last, key)
	w.block = binary.AppendUvarint(w.block, version)
	w.block = binary.AppendUvarint(w.block, uint64(len(val)))
	w.block = append(w.block, val...)
	w.last = append(w.last[:0], key...)
	w.count++
	if len(w.block) < stateBlock {
		return nil
	}
	return w.flush()
}

// flush writes the buffered entries as a frame.
func (w *stateWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	w.out = w.enc.EncodeAll(w.block, w.out[:0])
	err := w.frame(uint32(len(w.block)), w.out)
	w.block = w.block[:0]
	return err
}

func (w *stateWriter) frame(raw uint32, body []byte) error {
	head := binary.LittleEndian.AppendUint32(nil, raw)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	w.sum = frameSum(w.sum, head, body)
	if err := w.write(binary.LittleEndian.AppendUint32(head, w.sum)); err != nil {
		return err
	}
	return w.write(body)
}

func frameSum(before uint32, head, body []byte) uint32 {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], before)
	return crc32.Update(crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, head), castagnoli, body)
}

// finish ends the file with a frame of raw length 0 that holds the number of entries. With sync it waits until the file
// is on disk.
func (w *stateWriter) finish(sync bool) error {
	defer w.enc.Close()
	err := w.flush()
	if err == nil {
		err = w.frame(0, binary.LittleEndian.AppendUint64(nil, w.count))
	}
	if err == nil {
		err = w.w.Flush()
	}
	if err == nil && sync {
		err = w.f.Sync()
	}
	return err
}

// readState calls f, if not nil, with every entry of a state file. The slices are valid only during the call. If the
// file differs from its checksums, the error is ErrDamaged; f has then been called with the entries before the damage.
func readState(ctx context.Context, fsys disk.FS, path string, throttle *disk.Throttle,
	f func(key, val []byte, version uint64) error) (number uint64, err error) {
	file, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readStateFrom(ctx, file, throttle, f)
}

// readStateFrom does the work of readState for the bytes of a file.
func readStateFrom(ctx context.Context, file io.Reader, throttle *disk.Throttle,
	f func(key, val []byte, version uint64) error) (number uint64, err error) {
	r := &stateReader{r: bufio.NewReaderSize(file, 1<<20)}
	if number, err = r.begin(); err != nil {
		return 0, err
	}
	if r.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock)); err != nil {
		return 0, err
	}
	defer r.dec.Close()
	var count uint64
	for {
		raw, body, err := r.frame()
		if err != nil {
			return number, err
		}
		if err := throttle.Wait(ctx, blockHead+len(body)); err != nil {
			return number, err
		}
		if raw == 0 {
			if len(body) != 8 || binary.LittleEndian.Uint64(body) != count && f != nil {
				return number, fmt.Errorf("%w: a state file with %d entries has a wrong entry count", ErrDamaged, count)
			}
			if _, err := r.r.ReadByte(); !errors.Is(err, io.EOF) {
				return number, fmt.Errorf("%w: extra bytes after the end of a state file", ErrDamaged)
			}
			return number, nil
		}
		if f == nil {
			continue
		}
		n, err := r.entries(raw, body, f)
		if err != nil {
			return number, err
		}
		count += n
	}
}

type stateReader struct {
	r     *bufio.Reader
	dec   *zstd.Decoder
	sum   uint32
	body  []byte
	block []byte
}

func (r *stateReader) begin() (number uint64, err error) {
	var head [stateHead]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, readFailure(err)
	}
	r.sum = binary.LittleEndian.Uint32(head[16:])
	switch {
	case crc32.Checksum(head[:16], castagnoli) != r.sum:
		return 0, fmt.Errorf("%w: the head of a state file is corrupt", ErrDamaged)
	case !bytes.HasPrefix(head[:], []byte(stateFamily)):
		return 0, fmt.Errorf("%w: not a state file", ErrDamaged)
	case string(head[:8]) != stateMagic:
		return 0, errors.New("kv: the state file was written by a newer program")
	}
	return binary.LittleEndian.Uint64(head[8:]), nil
}

func (r *stateReader) frame() (raw uint32, body []byte, err error) {
	var head [blockHead]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, readFailure(err)
	}
	raw = binary.LittleEndian.Uint32(head[:])
	n := binary.LittleEndian.Uint32(head[4:])
	if raw > maxBlock || n > maxBlock {
		return 0, nil, fmt.Errorf("%w: malformed block in a state file", ErrDamaged)
	}
	if cap(r.body) < int(n) {
		r.body = make([]byte, n)
	}
	body = r.body[:n]
	if _, err := io.ReadFull(r.r, body); err != nil {
		return 0, nil, readFailure(err)
	}
	if r.sum = frameSum(r.sum, head[:8], body); r.sum != binary.LittleEndian.Uint32(head[8:]) {
		return 0, nil, fmt.Errorf("%w: a block of a state file differs from its checksum", ErrDamaged)
	}
	return raw, body, nil
}

// entries calls f with the entries of a block.
func (r *stateReader) entries(raw uint32, body []byte, f func(key, val []byte, version uint64) error) (n uint64, err error) {
	bad := fmt.Errorf("%w: malformed block in a state file", ErrDamaged)
	if r.block, err = r.dec.DecodeAll(body, r.block[:0]); err != nil || len(r.block) != int(raw) {
		return 0, errors.Join(bad, err)
	}
	uvarint := func(b []byte) (uint64, []byte, bool) {
		v, used := binary.Uvarint(b)
		return v, b[max(used, 0):], used > 0
	}
	var key []byte
	for b := r.block; len(b) > 0; n++ {
		shared, b1, ok1 := uvarint(b)
		more, b2, ok2 := uvarint(b1)
		if !ok1 || !ok2 || shared > uint64(len(key)) || more > uint64(len(b2)) {
			return n, bad
		}
		key = append(key[:shared], b2[:more]...)
		version, b3, ok3 := uvarint(b2[more:])
		size, b4, ok4 := uvarint(b3)
		if !ok3 || !ok4 || size > uint64(len(b4)) || len(key) == 0 {
			return n, bad
		}
		if err := f(key, b4[:size], version); err != nil {
			return n, err
		}
		b = b4[size:]
	}
	return n, nil
}
