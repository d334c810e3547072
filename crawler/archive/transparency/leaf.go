package transparency

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// LeafLen is the length of an encoded leaf, in bytes.
const LeafLen = 76

const leafFormat = 1

// What is special about a leaf: Leaf.Flags.
const (
	// FromRecords means that a repair added the leaf: the time of the version is what its record says.
	FromRecords = 1 << iota
	// FromOthers means that another archive fetched the version, and that its time is what that archive says.
	FromOthers
)

const knownFlags = FromRecords | FromOthers

// Leaf is what the log commits to of one version. It has no text, so that nothing of a version that is withdrawn later
// stays readable in the log, which cannot be changed.
type Leaf struct {
	Flags    byte
	At       time.Time // of the version, to the millisecond
	N        int       // number of the version among those of its URL, from 0
	SHA256   [32]byte  // of the bytes
	Identity [32]byte  // of the URL and the head; see Identity
}

// HeadDigest returns the SHA-256 of an HTTP head as it was received, or zeros if it is not known.
func HeadDigest(head []byte) (sum [32]byte) {
	if len(head) > 0 {
		sum = sha256.Sum256(head)
	}
	return sum
}

// Identity returns the SHA-256 of a URL, a line feed and the digest of the head (see HeadDigest). A leaf thus commits
// to both, and a proof that names both can be compared with it.
func Identity(url string, head [32]byte) [32]byte {
	b := make([]byte, 0, len(url)+33)
	b = append(append(b, url...), '\n')
	return sha256.Sum256(append(b, head[:]...))
}

var errLeaf = errors.New("transparency: not a leaf")

// Encode returns the leaf as the log stores, hashes and publishes it; FORMAT.md describes it.
func (l Leaf) Encode() []byte {
	b := make([]byte, 0, LeafLen)
	b = append(b, leafFormat, l.Flags)
	b = append(b, binary.BigEndian.AppendUint64(nil, uint64(max(l.At.UnixMilli(), 0)))[2:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(l.N))
	b = append(b, l.SHA256[:]...)
	return append(b, l.Identity[:]...)
}

// Hash returns the hash of the leaf in the tree (RFC 6962 §2.1).
func (l Leaf) Hash() tlog.Hash { return tlog.RecordHash(l.Encode()) }

// ParseLeaf decodes a leaf.
func ParseLeaf(b []byte) (l Leaf, err error) {
	if len(b) != LeafLen || b[0] != leafFormat || b[1]&^knownFlags != 0 {
		return l, errLeaf
	}
	var ms [8]byte
	copy(ms[2:], b[2:8])
	n := binary.BigEndian.Uint32(b[8:])
	if n >= 1<<31 {
		return l, errLeaf
	}
	l = Leaf{Flags: b[1], At: time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC(), N: int(n)}
	copy(l.SHA256[:], b[12:44])
	copy(l.Identity[:], b[44:])
	return l, nil
}
