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
	"path/filepath"
	"runtime"
	"slices"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"odarchive/triplestore/disk"
)

// When Badger finds a block that differs from its checksum, it continues as if the table ended there; a malformed index
// ends the process. So tables are verified here, by reading their files, before Badger opens them.

// manifest returns the tables that Badger's MANIFEST lists. It ignores a torn end, which Badger truncates.
func manifest(dir string) (tables []uint64, err error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkManifest(f); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	defer recoverDamage("read MANIFEST", &err)
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: MANIFEST: %w", ErrDamaged, err)
	}
	for id := range m.Tables {
		tables = append(tables, id)
	}
	slices.Sort(tables)
	return tables, nil
}

const (
	manifestHead  = 8
	manifestEntry = 8       // length and checksum of an entry
	maxEntry      = 1 << 24 // maximum length of an entry
)

// checkManifest compares each entry with its checksum. Badger mistakes an entry with a damaged length for the torn end
// of the file and forgets the tables after it.
func checkManifest(f io.Reader) error {
	r := bufio.NewReader(f)
	if _, err := r.Discard(manifestHead); err != nil {
		return fmt.Errorf("%w: MANIFEST is truncated", ErrDamaged)
	}
	for at := manifestHead; ; {
		var head [manifestEntry]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return endOf(err)
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxEntry || n == 0 && at > manifestHead { // a new database begins with an empty entry; elsewhere it is a lost sector
			return fmt.Errorf("%w: MANIFEST at byte %d", ErrDamaged, at)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return endOf(err)
		}
		if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
			return fmt.Errorf("%w: MANIFEST at byte %d differs from its checksum", ErrDamaged, at)
		}
		at += manifestEntry + int(n)
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func tableName(id uint64) string { return fmt.Sprintf("%06d.sst", id) }

// badTable is a table that differs from its checksums.
type badTable struct {
	name   string
	offset int64 // -1 if not at one place
	err    error
}

// verifyTables reads tables and returns the damaged ones. progress may be nil; it is called with numbers of bytes,
// concurrently.
func verifyTables(ctx context.Context, dir string, tables []uint64, throttle *disk.Throttle, progress func(n int64)) ([]badTable, error) {
	results := make([]badTable, len(tables))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	if throttle != nil {
		g.SetLimit(1)
	}
	for i, id := range tables {
		g.Go(func() error {
			name := tableName(id)
			at, err := verifyTable(ctx, filepath.Join(dir, name), throttle, progress)
			if err != nil && (errors.Is(err, ErrDamaged) || errors.Is(err, os.ErrNotExist)) {
				results[i] = badTable{name, at, err}
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("verify tables: %w", err)
	}
	return slices.DeleteFunc(results, func(b badTable) bool { return b.err == nil }), nil
}

// verifyTable compares a table's index and each of its blocks with their checksums. A table is blocks, an index (a
// flatbuffer), the length of the index (4 bytes), its checksum (a protobuf) and the length of that (4). A block ends
// with its checksum and the length of that; then it may be compressed.
func verifyTable(ctx context.Context, path string, throttle *disk.Throttle, progress func(n int64)) (at int64, err error) {
	defer func() {
		if r := recover(); r != nil { // an index with a valid checksum but malformed content
			at, err = -1, damage("verify table", r)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return -1, err
	}
	size := info.Size()
	index, start, err := readIndex(f, size)
	if err != nil {
		return start, err
	}
	if err := throttle.Wait(ctx, int(size-start)); err != nil {
		return -1, err
	}
	if progress != nil {
		progress(size - start)
	}
	var offset fb.BlockOffset
	var buf []byte
	end := int64(0)
	var whole []byte // a block, decompressed
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxTableBlock))
	if err != nil {
		return -1, err
	}
	defer unpack.Close()
	for i := range index.OffsetsLength() {
		if !index.Offsets(&offset, i) || int64(offset.Offset()) != end || int64(offset.Len()) < 8 || end+int64(offset.Len()) > start {
			return end, fmt.Errorf("%w: its index does not fit its blocks", ErrDamaged)
		}
		n := int(offset.Len())
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if _, err := f.ReadAt(buf[:n], end); err != nil {
			return end, readFailure(err)
		}
		if whole, err = checkPacked(buf[:n], unpack, whole); err != nil {
			return end, err
		}
		end += int64(n)
		if err := throttle.Wait(ctx, n); err != nil {
			return -1, err
		}
		if progress != nil {
			progress(int64(n))
		}
	}
	if end != start {
		return end, fmt.Errorf("%w: extra bytes between its blocks and its index", ErrDamaged)
	}
	return 0, nil
}

// readIndex returns a table's index and its offset.
func readIndex(f *os.File, size int64) (index *fb.TableIndex, start int64, err error) {
	last := func(end int64) (n int64, err error) {
		var b [4]byte
		if end < 4 {
			return 0, fmt.Errorf("%w: it is truncated", ErrDamaged)
		}
		if _, err := f.ReadAt(b[:], end-4); err != nil {
			return 0, readFailure(err)
		}
		if n = int64(binary.BigEndian.Uint32(b[:])); n > end-4 {
			return 0, fmt.Errorf("%w: its end is malformed", ErrDamaged)
		}
		return n, nil
	}
	sumLen, err := last(size)
	if err != nil {
		return nil, size, err
	}
	sumAt := size - 4 - sumLen
	indexLen, err := last(sumAt)
	if err != nil {
		return nil, size, err
	}
	start = sumAt - 4 - indexLen
	b := make([]byte, size-start)
	if _, err := f.ReadAt(b, start); err != nil {
		return nil, start, readFailure(err)
	}
	data := b[:indexLen]
	if err := checkSum(data, b[sumAt-start:sumAt-start+sumLen]); err != nil {
		return nil, start, fmt.Errorf("%w: its index: %w", ErrDamaged, err)
	}
	return fb.GetRootAsTableIndex(data, 0), start, nil
}

// maxSnappyRatio is more than what Snappy makes of a byte: three of them stand for at most 64.
const maxSnappyRatio = 22

// maxTableBlock is more than the length of any block, in bytes.
const maxTableBlock = 64 * MaxValue

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// checkPacked compares a block with its checksum. It may be compressed with Zstandard, with Snappy, or not at all: the
// first has a magic number, and no block matches its checksum in both other ways. whole is memory for the block without
// compression, which checkPacked returns for the next.
func checkPacked(block []byte, unpack *zstd.Decoder, whole []byte) (_ []byte, err error) {
	if bytes.HasPrefix(block, zstdMagic) {
		if whole, err = unpack.DecodeAll(block, whole[:0]); err != nil {
			return nil, fmt.Errorf("%w: a block: %w", ErrDamaged, err)
		}
		return whole, checkBlock(whole)
	}
	if n, err := snappy.DecodedLen(block); err == nil && n <= maxSnappyRatio*len(block) {
		if whole, err = snappy.Decode(whole[:cap(whole)], block); err == nil {
			return whole, checkBlock(whole)
		}
	}
	return whole, checkBlock(block)
}

func checkBlock(b []byte) error {
	if len(b) < 4 {
		return fmt.Errorf("%w: a block is too short", ErrDamaged)
	}
	n := int(binary.BigEndian.Uint32(b[len(b)-4:]))
	if n > len(b)-4 {
		return fmt.Errorf("%w: the end of a block is malformed", ErrDamaged)
	}
	if err := checkSum(b[:len(b)-4-n], b[len(b)-4-n:len(b)-4]); err != nil {
		return fmt.Errorf("%w: a block: %w", ErrDamaged, err)
	}
	return nil
}

var errSum = errors.New("it differs from its checksum")

func checkSum(data, sum []byte) error {
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return fmt.Errorf("its checksum: %w", err)
	}
	if want.Algo != pb.Checksum_CRC32C || uint64(crc32.Checksum(data, castagnoli)) != want.Sum {
		return errSum
	}
	return nil
}

func readFailure(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is truncated", ErrDamaged)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err) // a sector that the disk cannot read
}

// wholeEntries returns a MANIFEST without its torn end, which another process may be writing.
func wholeEntries(b []byte) []byte {
	at := manifestHead
	for at+manifestEntry <= len(b) {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n > maxEntry || at+manifestEntry+n > len(b) {
			break
		}
		at += manifestEntry + n
	}
	return b[:min(at, len(b))]
}

// allNamed returns ErrDamaged if there is a table that MANIFEST does not list: Badger would delete it, but MANIFEST may
// have lost its end.
func allNamed(dir string, tables []uint64) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(tables, func(id uint64) bool { return tableName(id) == filepath.Base(name) }) {
			return fmt.Errorf("%w: MANIFEST does not name %s", ErrDamaged, filepath.Base(name))
		}
	}
	return nil
}

// errNothingElse is the error if the tables are damaged and nothing else holds the database.
func errNothingElse(bad error) error {
	return fmt.Errorf(
		"%w, and there is neither a log nor a snapshot to rebuild the database from; the files are unchanged: restore a backup, or list "+
			"what the packs hold with 'odarchive check --packs-only'", bad)
}
