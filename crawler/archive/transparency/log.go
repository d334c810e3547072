// Package transparency keeps the archive's transparency log: an append-only Merkle tree (RFC 6962) with a leaf for each
// version, in the order in which versions were committed.
//
// A leaf commits to a version's URL, number, time, bytes and HTTP head. The transaction that stores a version appends its
// leaf (Txn.Append). A checkpoint is the size and the root hash of the tree, signed with a key that the operator keeps
// (Signer). Who holds a checkpoint can prove with a few hashes that a version is in the tree (Proof), and that a later
// tree begins with the same leaves (Consistent). So an archive cannot change or drop what it once signed without being
// found out by anybody with an old checkpoint.
//
// The tree is published in the static form of C2SP tlog-tiles, with checkpoints as signed notes (Txn.File). FORMAT.md
// describes the records, the leaf and the proof.
package transparency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/tlog"
)

// The tables in the keyspace of the log, by first byte. An index is 5 bytes, big endian.
const (
	tableLeaf       = 'l' // index                                     -> Leaf
	tableVersion    = 'v' // hash of a version's id (6 bytes), index   -> nothing
	tableHash       = 'h' // level (1 byte), number (5 bytes)          -> hash of a full subtree of 256^level leaves
	tableHead       = 'd' // index                                     -> digest of the head, where no record has the head
	tableCheckpoint = 'c' // size (5 bytes)                            -> checkpoint
	tableState      = 's' //                                           -> state
)

const (
	space       = kv.SpaceTransparency
	stateFormat = 1
	tileHeight  = 8
	tileWidth   = 1 << tileHeight
	indexLen    = 5
	maxSize     = 1 << (8 * indexLen)
)

// Errors that callers decide on.
var (
	// ErrDamaged is in the chain of errors about records of the log that are missing or cannot be read.
	ErrDamaged = errors.New("the transparency log is damaged")
	// ErrNotLogged means that the log has no leaf of a version, or has it only after the checkpoint in question.
	ErrNotLogged = errors.New("not in the transparency log")
)

// Txn reads and writes the log within one transaction.
type Txn struct{ *kv.Txn }

// View calls f with a read-only transaction.
func View(db *kv.DB, f func(Txn) error) error {
	return db.View(func(txn *kv.Txn) error { return f(Txn{txn}) })
}

func appendIndex(b []byte, n int64) []byte {
	return append(b, binary.BigEndian.AppendUint64(nil, uint64(n))[8-indexLen:]...)
}

func readIndex(b []byte) int64 {
	var full [8]byte
	copy(full[8-indexLen:], b)
	return int64(binary.BigEndian.Uint64(full[:]))
}

func leafKey(n int64) []byte { return appendIndex([]byte{tableLeaf}, n) }

func hashKey(level int, n int64) []byte { return appendIndex([]byte{tableHash, byte(level)}, n) }

// versionPrefix returns the beginning of the keys of a version's leaves. Two versions may share it.
func versionPrefix(versionID string) []byte {
	sum := sha256.Sum256([]byte(versionID))
	return append([]byte{tableVersion}, sum[:6]...)
}

// state has what Append must know, and what was compared last.
type state struct {
	size int64
	// skew is how many versions more the log of events had than this log when the two were last compared, and the
	// versions of older programs were added (SetCompared).
	skew int64
}

func (t Txn) state() (s state, err error) {
	_, err = t.Read(space, []byte{tableState}, func(raw []byte) error {
		r := fields.Reader{B: raw}
		if r.Byte() != stateFormat {
			r.Fail()
		}
		s = state{r.Max(maxSize), r.Varint()}
		if r.End() != nil {
			return fmt.Errorf("%w: its state cannot be read", ErrDamaged)
		}
		return nil
	})
	return s, err
}

func (t Txn) setState(s state) error {
	b := binary.AppendUvarint([]byte{stateFormat}, uint64(s.size))
	return t.Set(space, []byte{tableState}, binary.AppendVarint(b, s.skew))
}

// Size returns the number of leaves.
func (t Txn) Size() (int64, error) {
	s, err := t.state()
	return s.size, err
}

// Compared returns by how many versions the log of events was ahead when SetCompared was last called.
func (t Txn) Compared() (skew int64, err error) {
	s, err := t.state()
	return s.skew, err
}

// SetCompared stores what Compared returns.
func (t Txn) SetCompared(skew int64) error {
	s, err := t.state()
	if err != nil {
		return err
	}
	s.skew = skew
	return t.setState(s)
}

// Append adds the leaf of a version to the tree, and returns its index.
func (t Txn) Append(versionID string, leaf Leaf) (index int64, err error) {
	s, err := t.state()
	if err != nil {
		return 0, err
	}
	if s.size >= maxSize-1 {
		return 0, errors.New("transparency: the log is full")
	}
	index = s.size
	if err := t.Set(space, leafKey(index), leaf.Encode()); err != nil {
		return 0, err
	}
	if err := t.Set(space, appendIndex(versionPrefix(versionID), index), nil); err != nil {
		return 0, err
	}
	s.size++
	if err := t.closeTiles(s.size); err != nil {
		return 0, err
	}
	return index, t.setState(s)
}

// closeTiles stores the hashes of the subtrees that are full since the tree has a size. They are what the tiles of the
// next level consist of; all other hashes are computed from them and from the leaves when they are needed.
func (t Txn) closeTiles(size int64) error {
	for level := 1; size%tileWidth == 0; level++ {
		size /= tileWidth
		hashes, err := t.row(level-1, (size-1)*tileWidth, tileWidth)
		if err != nil {
			return err
		}
		full := fold(hashes)
		if err := t.Set(space, hashKey(level, size-1), full[:]); err != nil {
			return err
		}
	}
	return nil
}

// row returns n consecutive hashes of subtrees of 256^level leaves.
func (t Txn) row(level int, from int64, n int) (hashes []tlog.Hash, err error) {
	prefix, first := []byte{tableLeaf}, leafKey(from)
	if level > 0 {
		prefix, first = []byte{tableHash, byte(level)}, hashKey(level, from)
	}
	hashes = make([]tlog.Hash, 0, n)
	err = t.Scan(space, prefix, first, func(k, val []byte) (bool, error) {
		if readIndex(k[len(prefix):]) != from+int64(len(hashes)) {
			return false, nil
		}
		switch {
		case level == 0:
			hashes = append(hashes, tlog.RecordHash(val))
		case len(val) == tlog.HashSize:
			hashes = append(hashes, tlog.Hash(val))
		default:
			return false, nil
		}
		return len(hashes) < n, nil
	})
	if err == nil && len(hashes) < n {
		err = fmt.Errorf("%w: level %d has no hash %d", ErrDamaged, level, from+int64(len(hashes)))
	}
	return hashes, err
}

// fold returns the root of the full tree over hashes, whose number is a power of two. It overwrites them.
func fold(hashes []tlog.Hash) tlog.Hash {
	for len(hashes) > 1 {
		for i := range len(hashes) / 2 {
			hashes[i] = tlog.NodeHash(hashes[2*i], hashes[2*i+1])
		}
		hashes = hashes[:len(hashes)/2]
	}
	return hashes[0]
}

// ReadHashes implements tlog.HashReader.
func (t Txn) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	hashes = make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		level, n := tlog.SplitStoredHashIndex(x)
		within := level % tileHeight
		row, err := t.row(level/tileHeight, n<<within, 1<<within)
		if err != nil {
			return nil, err
		}
		hashes[i] = fold(row)
	}
	return hashes, nil
}

// Tree returns the tree of the first size leaves.
func (t Txn) Tree(size int64) (tlog.Tree, error) {
	have, err := t.Size()
	if err == nil && (size < 0 || size > have) {
		err = fmt.Errorf("%w: it has %d leaves, and %d are asked for", ErrNotLogged, have, size)
	}
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.TreeHash(size, t)
	return tlog.Tree{N: size, Hash: root}, err
}

// Leaf returns the leaf with an index.
func (t Txn) Leaf(index int64) (l Leaf, err error) {
	ok, err := t.Read(space, leafKey(index), func(raw []byte) (err error) {
		if l, err = ParseLeaf(raw); err != nil {
			err = fmt.Errorf("%w: leaf %d cannot be read", ErrDamaged, index)
		}
		return err
	})
	if err == nil && !ok {
		err = fmt.Errorf("%w: leaf %d is missing", ErrDamaged, index)
	}
	return l, err
}

// Find returns the index of the first leaf of a version that has its number and digest. The error is ErrNotLogged if
// there is none.
func (t Txn) Find(versionID string, n int, sum [32]byte) (index int64, leaf Leaf, err error) {
	prefix := versionPrefix(versionID)
	found := false
	err = t.Scan(space, prefix, nil, func(k, _ []byte) (bool, error) {
		if len(k) != len(prefix)+indexLen {
			return true, nil
		}
		at := readIndex(k[len(prefix):])
		l, err := t.Leaf(at)
		if errors.Is(err, ErrDamaged) { // perhaps that of another version; Check reports it
			return true, nil
		}
		if err == nil && l.N == n && l.SHA256 == sum {
			index, leaf, found = at, l, true
		}
		return !found, err
	})
	if err == nil && !found {
		err = fmt.Errorf("version %s: %w", versionID, ErrNotLogged)
	}
	return index, leaf, err
}

// KeepHead stores the digest of the head of a leaf's version, for when the record with the head is removed: without it,
// nobody could show which URL the leaf stands for.
func (t Txn) KeepHead(index int64, digest [32]byte) error {
	return t.Set(space, appendIndex([]byte{tableHead}, index), digest[:])
}

// KeptHead returns what KeepHead stored.
func (t Txn) KeptHead(index int64) (digest [32]byte, ok bool, err error) {
	ok, err = t.Read(space, appendIndex([]byte{tableHead}, index), func(raw []byte) error {
		if len(raw) != len(digest) {
			return fmt.Errorf("%w: the digest of the head of leaf %d cannot be read", ErrDamaged, index)
		}
		copy(digest[:], raw)
		return nil
	})
	return digest, ok, err
}

// Leaves calls f with the leaves from an index on, in order, until f returns false or an error. Missing leaves are not
// reported: the caller compares indexes.
func (t Txn) Leaves(ctx context.Context, from int64, f func(index int64, raw []byte) (more bool, err error)) error {
	return t.Scan(space, []byte{tableLeaf}, leafKey(from), func(k, val []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if len(k) != 1+indexLen {
			return true, nil
		}
		return f(readIndex(k[1:]), val)
	})
}
