// Package transparency keeps the archive's transparency log: an append-only Merkle tree (RFC 6962) with a leaf for each
// version, in the order in which versions were committed.
//
// A leaf commits to a version's URL, number, time, bytes and HTTP head. The transaction that stores a version appends
// its leaf (Txn.AppendRecorded), of which the log keeps a reference to the version's record, and 4 bytes of the hash:
// the record leads to the rest. A checkpoint is the size and the root hash of the tree, signed with a key that the
// operator keeps (Signer). Who holds a checkpoint can prove with a few hashes that a version is in the tree (Proof),
// and that a later tree begins with the same leaves (Consistent). So an archive cannot change or drop what it once
// signed without being found out by anybody with an old checkpoint.
//
// The tree is published in the static form of C2SP tlog-tiles, with checkpoints as signed notes (Txn.File). FORMAT.md
// describes the records, the leaf and the proof.
package transparency

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/tlog"
)

// The tables in the keyspace of the log, by first byte. An index is 5 bytes, big endian.
const (
	tableLeaf       = 'l' // index                                     -> reference or Leaf (reference.go)
	tableVersion    = 'v' // hash of a version's id (6 bytes), index   -> nothing
	tableHash       = 'h' // level (1 byte), number (5 bytes)          -> hash of a full subtree of 256^level leaves
	tableParity     = 'p' // number of a full tile (5 bytes)           -> exclusive or of its leaves
	tableCheckpoint = 'c' // size (5 bytes)                            -> checkpoint
	tableState      = 's' //                                           -> state (state.go)
)

const (
	space      = kv.SpaceTransparency
	tileHeight = 8
	tileWidth  = 1 << tileHeight
	indexLen   = 5
	maxSize    = 1 << (8 * indexLen)
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

func parityKey(tile int64) []byte { return appendIndex([]byte{tableParity}, tile) }

func hashKey(level int, n int64) []byte { return appendIndex([]byte{tableHash, byte(level)}, n) }

// versionPrefix returns the beginning of the keys of a version's leaves. Two versions may share it.
func versionPrefix(versionID string) []byte {
	sum := sha256.Sum256([]byte(versionID))
	return append([]byte{tableVersion}, sum[:6]...)
}

// Append adds a leaf to the tree, and returns its index. It stores the whole leaf.
func (t Txn) Append(versionID string, leaf Leaf) (index int64, err error) {
	raw := leaf.Encode()
	return t.append(versionID, raw, raw)
}

// AppendRecorded does the same for the leaf of a version whose record leads to it (see LeafOf), and which the
// transaction has stored. It stores a reference to the version in place of the leaf.
func (t Txn) AppendRecorded(versionID string, leaf Leaf) (index int64, err error) {
	raw := leaf.Encode()
	ref, err := referTo(versionID, raw)
	if err != nil {
		return 0, err
	}
	return t.append(versionID, ref.encode(), raw)
}

// append adds a leaf that is stored as entry.
func (t Txn) append(versionID string, entry, raw []byte) (index int64, err error) {
	s, err := t.state()
	switch {
	case err != nil:
		return 0, err
	case s.size >= maxSize-1:
		return 0, errors.New("transparency: the log is full")
	}
	index = s.size
	if err := t.Set(space, leafKey(index), entry); err != nil {
		return 0, err
	}
	if err := t.Set(space, appendIndex(versionPrefix(versionID), index), nil); err != nil {
		return 0, err
	}
	full := s.add(raw)
	if s.size%tileWidth == 0 {
		if err := t.closeTiles(s.size/tileWidth, full, s.parity); err != nil {
			return 0, err
		}
		s.open, s.parity = growing{}, [LeafLen]byte{}
	}
	return index, t.setState(s)
}

// closeTiles stores the parity and the hash of the last of a number of full tiles, and the hashes of the larger
// subtrees that are full with it. They are what the tiles of the higher levels consist of; all other hashes are
// computed from them and from the leaves when they are needed.
func (t Txn) closeTiles(tiles int64, full tlog.Hash, parity [LeafLen]byte) error {
	if err := t.Set(space, parityKey(tiles-1), parity[:]); err != nil {
		return err
	}
	if err := t.Set(space, hashKey(1, tiles-1), full[:]); err != nil {
		return err
	}
	for level := 2; tiles%tileWidth == 0; level++ {
		tiles /= tileWidth
		hashes, err := t.row(level-1, (tiles-1)*tileWidth, tileWidth)
		if err != nil {
			return err
		}
		full := fold(hashes)
		if err := t.Set(space, hashKey(level, tiles-1), full[:]); err != nil {
			return err
		}
	}
	return nil
}

// row returns n consecutive hashes of subtrees of 256^level leaves, all of one tile.
func (t Txn) row(level int, from int64, n int) (hashes []tlog.Hash, err error) {
	if level == 0 {
		hashes, err := t.leafHashes(from / tileWidth)
		if at := int(from % tileWidth); err == nil && at+n <= len(hashes) {
			return hashes[at : at+n], nil
		}
		return nil, errors.Join(err, fmt.Errorf("%w: it has no leaf %d", ErrDamaged, from+int64(n)-1))
	}
	prefix := []byte{tableHash, byte(level)}
	hashes = make([]tlog.Hash, 0, n)
	err = t.Scan(space, prefix, hashKey(level, from), func(k, val []byte) (bool, error) {
		if readIndex(k[len(prefix):]) != from+int64(len(hashes)) || len(val) != tlog.HashSize {
			return false, nil
		}
		hashes = append(hashes, tlog.Hash(val))
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

// ReadHashes implements tlog.HashReader. It reads each tile of leaves once.
func (t Txn) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	s, err := t.state()
	if err != nil {
		return nil, err
	}
	hashes = make([]tlog.Hash, len(indexes))
	tiles := map[int64][]tlog.Hash{}
	for i, x := range indexes {
		level, n := tlog.SplitStoredHashIndex(x)
		if root, ok := s.root(level, n); ok {
			hashes[i] = root
			continue
		}
		within := level % tileHeight
		from, width := n<<within, 1<<within
		var row []tlog.Hash
		if level < tileHeight {
			tile, at := from/tileWidth, int(from%tileWidth)
			if tiles[tile] == nil {
				if tiles[tile], err = t.leafHashes(tile); err != nil {
					return nil, err
				}
			}
			if at+width > len(tiles[tile]) {
				return nil, fmt.Errorf("%w: it has no leaf %d", ErrDamaged, from+int64(width)-1)
			}
			row = slices.Clone(tiles[tile][at : at+width])
		} else if row, err = t.row(level/tileHeight, from, width); err != nil {
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

// Find returns the index of the first leaf of a version that has its number and digest. The error is ErrNotLogged if
// there is none.
func (t Txn) Find(versionID string, n int, sum [32]byte) (index int64, leaf Leaf, err error) {
	list, err := t.leafIndexes(versionID)
	if err != nil {
		return 0, leaf, err
	}
	for _, index := range list {
		leaf, err := t.Leaf(index)
		if err == nil && leaf.N == n && leaf.SHA256 == sum {
			return index, leaf, nil
		}
		if err != nil && !errors.Is(err, ErrDamaged) { // a damaged one is perhaps that of another version; Check reports it
			return 0, leaf, err
		}
	}
	return 0, leaf, fmt.Errorf("version %s: %w", versionID, ErrNotLogged)
}

// leafIndexes returns the indexes of leaves that may be those of a version, in order.
func (t Txn) leafIndexes(versionID string) (list []int64, err error) {
	prefix := versionPrefix(versionID)
	err = t.Scan(space, prefix, nil, func(k, _ []byte) (bool, error) {
		if len(k) == len(prefix)+indexLen {
			list = append(list, readIndex(k[len(prefix):]))
		}
		return true, nil
	})
	return list, err
}
