package content

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Keys in the two spaces; FORMAT.md describes their values.
const (
	filesSpace = kv.SpaceContent     // Digest -> file record; Digest, page -> another page of its runs
	refsSpace  = kv.SpaceContentRefs // a letter, then:
	keyState   = 's'                 // name
	keyExtent  = 'x'                 // number of the extent
	keyFamily  = 'y'                 // number of the family -> number of its last cut
	keyMember  = 'z'                 // number of the family, Digest -> nothing
	keyPack    = 'p'                 // number of the pack
)

// Formats of the whole store, and of file and extent records.
const (
	formatVersion = 1
	remoteFormat  = 2 // of a store whose packs are in a bucket
	recordVersion = 1
)

const (
	maxExtent = 64       // segments of one extent
	pageBytes = 64 << 10 // of one page of runs
)

// errRecord reports that a record cannot be decoded.
var errRecord = errors.New("malformed record")

func numKey(letter byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{letter}, n)
}

// run is n consecutive segments of one extent.
type run struct {
	extent   uint64
	first, n int
}

// fileRecord is the record of one file. deflateSize is valid while layout is the family's last cut.
type fileRecord struct {
	sha         Digest
	md5         [16]byte
	crc         uint32
	size        int64
	deflateSize int64
	layout      uint64
	family      uint64
	pages       int // of runs, besides the one in the record itself
	runs        []run
}

func (f *fileRecord) ref() Ref {
	return Ref{SHA256: f.sha, MD5: f.md5, CRC32: f.crc, Size: f.size, DeflateSize: f.deflateSize, Layout: f.layout, Family: f.family}
}

// segment is one stored piece of a family's files.
type segment struct {
	raw, deflated int    // bytes
	crc           uint32 // IEEE, of the raw bytes
	pack          uint64 // 0: no longer stored
	offset        int64  // of its head in the pack
	cut           uint64 // the cut that replaced it by the segments of the extent parts; 0: it is whole
	parts         uint64
}

type packRecord struct {
	end     int64 // bytes that are committed
	live    int64 // bytes of segments (with head) that a record points to
	records int64 // bytes of file and cut records; Compact drops those that are obsolete
}

const (
	anySize  = int64(1) << 62
	anyCount = int64(1) << 40
)

func (f *fileRecord) encode(firstPage []byte) []byte {
	b := append([]byte{recordVersion}, f.md5[:]...)
	b = binary.BigEndian.AppendUint32(b, f.crc)
	b = binary.AppendUvarint(b, uint64(f.size))
	b = binary.AppendUvarint(b, uint64(f.deflateSize))
	b = binary.AppendUvarint(b, f.layout)
	b = binary.AppendUvarint(b, f.family)
	b = binary.AppendUvarint(b, uint64(f.pages))
	return append(b, firstPage...)
}

// decodeFile decodes a file record, without its runs if head is set.
func decodeFile(sha Digest, val []byte, head bool) (f fileRecord, err error) {
	d := fields.Reader{B: val}
	var version [1]byte
	var crc [4]byte
	copy(version[:], d.Bytes(len(version)))
	copy(f.md5[:], d.Bytes(len(f.md5)))
	copy(crc[:], d.Bytes(len(crc)))
	f.sha, f.crc = sha, binary.BigEndian.Uint32(crc[:])
	f.size, f.deflateSize = d.Max(anySize), d.Max(anySize)
	f.layout, f.family, f.pages = d.Uvarint(), d.Uvarint(), int(d.Max(anyCount))
	if version[0] > recordVersion {
		return f, ErrNewer
	}
	if !head {
		f.runs, err = decodeRuns(nil, d.B)
	}
	if d.Bad() || err != nil {
		return f, fmt.Errorf("file %s: %w", sha, errRecord)
	}
	return f, nil
}

// encodeRuns encodes runs in the pages of a file record of the database.
func encodeRuns(runs []run) (pages [][]byte) { return encodePages(runs, pageBytes) }

// encodePages encodes runs in pages of slightly more than size bytes. A run is the difference of its extent to the one
// before in the page (zigzag), first, n.
func encodePages(runs []run, size int) (pages [][]byte) {
	var page []byte
	var last uint64
	for _, r := range runs {
		page = binary.AppendVarint(page, int64(r.extent-last))
		page = binary.AppendUvarint(page, uint64(r.first))
		page = binary.AppendUvarint(page, uint64(r.n))
		last = r.extent
		if len(page) >= size {
			pages = append(pages, page)
			page, last = nil, 0
		}
	}
	if len(pages) == 0 || len(page) > 0 {
		pages = append(pages, page)
	}
	return pages
}

func decodeRuns(runs []run, page []byte) ([]run, error) {
	var last uint64
	d := fields.Reader{B: page}
	for len(d.B) > 0 {
		delta, n := binary.Varint(d.B)
		if n <= 0 {
			return nil, errRecord
		}
		d.B = d.B[n:]
		last += uint64(delta)
		r := run{last, int(d.Max(maxExtent - 1)), int(d.Max(maxExtent))}
		if d.Bad() || r.n == 0 || r.first+r.n > maxExtent {
			return nil, errRecord
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// getter is a transaction or a snapshot of kv.
type getter interface {
	Read(kv.Space, []byte, func([]byte) error) (bool, error)
}

// readFile returns a file record without its runs.
func readFile(tx getter, sha Digest) (f fileRecord, found bool, err error) {
	found, err = tx.Read(filesSpace, sha[:], func(val []byte) (err error) {
		f, err = decodeFile(sha, val, true)
		return err
	})
	return f, found, recordError(err)
}

// readRuns returns a file record with its runs.
func readRuns(tx getter, sha Digest) (f fileRecord, found bool, err error) {
	found, err = tx.Read(filesSpace, sha[:], func(val []byte) (err error) {
		f, err = decodeFile(sha, val, false)
		return err
	})
	for i := 0; err == nil && found && i < f.pages; i++ {
		var ok bool
		ok, err = tx.Read(filesSpace, pageKey(sha, i), func(val []byte) (err error) {
			f.runs, err = decodeRuns(f.runs, val)
			return err
		})
		if err == nil && !ok {
			err = fmt.Errorf("file %s: page %d is missing: %w", sha, i, errRecord)
		}
	}
	return f, found, recordError(err)
}

func pageKey(sha Digest, page int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), sha[:]...), uint32(page))
}

// recordError turns the errors of damaged records into a DamageError.
func recordError(err error) error {
	if errors.Is(err, errRecord) || errors.Is(err, kv.ErrDamaged) {
		return &DamageError{Why: err.Error()}
	}
	return err
}

func readNumber(tx getter, key []byte) (n uint64, err error) {
	_, err = tx.Read(refsSpace, key, func(val []byte) error {
		d := fields.Reader{B: val}
		n = d.Uvarint()
		if d.Bad() {
			return errRecord
		}
		return nil
	})
	return n, recordError(err)
}

func lastCut(tx getter, family uint64) (uint64, error) {
	return readNumber(tx, numKey(keyFamily, family))
}

func readPack(tx getter, num uint64) (p packRecord, found bool, err error) {
	found, err = tx.Read(refsSpace, numKey(keyPack, num), func(val []byte) error {
		p, err = decodePack(val)
		return err
	})
	return p, found, recordError(err)
}

// packRecord reads the record of a pack.
func (s *Store) packRecord(num uint64) (p packRecord, found bool, err error) {
	err = s.db.View(func(tx *kv.Txn) error {
		p, found, err = readPack(tx, num)
		return err
	})
	return p, found, err
}

func decodePack(val []byte) (p packRecord, err error) {
	d := fields.Reader{B: val}
	p.end, p.live, p.records = d.Max(anySize), d.Max(anySize), d.Max(anySize)
	if d.Bad() {
		return p, errRecord
	}
	return p, nil
}

func (p packRecord) encode() []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(p.end)), uint64(max(p.live, 0)))
	return binary.AppendUvarint(b, uint64(max(p.records, 0)))
}

func stateKey(name string) []byte { return append([]byte{keyState}, name...) }

// checkFormat returns an error for a store of another format, and writes the format into a new one.
func checkFormat(db *kv.DB, remote bool) error {
	var n uint64
	err := db.View(func(tx *kv.Txn) (err error) {
		n, err = readNumber(tx, stateKey("format"))
		return err
	})
	switch {
	case err != nil:
		return err
	case n > remoteFormat:
		return fields.OtherFormat("the content store", n, formatVersion)
	case n == remoteFormat && !remote:
		return ErrRemote
	case n == remoteFormat || n == formatVersion || db.ReadOnly():
		return nil
	}
	return db.Update(context.Background(), func(tx *kv.Txn) error {
		return tx.Set(refsSpace, stateKey("format"), binary.AppendUvarint(nil, formatVersion))
	})
}

func readEpoch(db *kv.DB) (n uint64, err error) {
	err = db.View(func(tx *kv.Txn) error {
		n, err = readNumber(tx, stateKey("epoch"))
		return err
	})
	return n, err
}

// numbers allocates the numbers of extents, families and packs. A number is never allocated twice: blocks of numbers
// are reserved in kv before they are used.
type numbers struct {
	db        *kv.DB
	mu        sync.Mutex // guards next, end
	next, end uint64
}

const reserve = 256

func (n *numbers) allocate() (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == n.end {
		err := n.db.Update(context.Background(), func(tx *kv.Txn) error {
			first, err := readNumber(tx, stateKey("next"))
			if err != nil {
				return err
			}
			first = max(first, 1)
			n.next, n.end = first, first+reserve
			return tx.Set(refsSpace, stateKey("next"), binary.AppendUvarint(nil, n.end))
		})
		if err != nil {
			n.next = n.end
			return 0, err
		}
	}
	n.next++
	return n.next - 1, nil
}

// keyNumber returns the number in a key of numKey.
func keyNumber(key []byte) (uint64, bool) {
	if len(key) != 9 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[1:]), true
}

// raiseTo makes the next number at least first: a pack of a backup may have a number that the copy of the database does
// not count as reserved.
func (n *numbers) raiseTo(first uint64) error {
	var next uint64
	err := n.db.View(func(tx *kv.Txn) (err error) {
		next, err = readNumber(tx, stateKey("next"))
		return err
	})
	if err != nil || next >= first {
		return err
	}
	return n.db.Update(context.Background(), func(tx *kv.Txn) error {
		return tx.Set(refsSpace, stateKey("next"), binary.AppendUvarint(nil, first))
	})
}
