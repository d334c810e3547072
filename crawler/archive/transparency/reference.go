package transparency

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"

	"golang.org/x/mod/sumdb/tlog"
)

// An entry of tableLeaf is a whole leaf, which begins with leafFormat, or a reference, which begins with refFormat.
const (
	refFormat = 2
	tagLen    = 4
)

// reference stands for the leaf of a version whose record leads to it.
type reference struct {
	flags    byte
	resource [12]byte // id
	n        int      // number of the version
	tag      [tagLen]byte
}

// tagOf returns the first bytes of the hash of a leaf, by which a leaf is known that is no longer what its record leads
// to.
func tagOf(raw []byte) (tag [tagLen]byte) {
	h := tlog.RecordHash(raw)
	copy(tag[:], h[:])
	return tag
}

// referTo returns the reference to a version with a leaf.
func referTo(versionID string, raw []byte) (r reference, err error) {
	resource, n, ok := ns.SplitVersionID(versionID)
	if !ok {
		return r, fmt.Errorf("transparency: %.80q is not the id of a version", versionID)
	}
	r.flags, r.n, r.tag = raw[1], n, tagOf(raw)
	_, err = hex.Decode(r.resource[:], []byte(resource))
	return r, err
}

func (r reference) version() string { return ns.VersionID(hex.EncodeToString(r.resource[:]), r.n) }

func (r reference) encode() []byte {
	b := append(make([]byte, 0, 20), refFormat, r.flags)
	b = append(b, r.resource[:]...)
	b = binary.AppendUvarint(b, uint64(r.n))
	return append(b, r.tag[:]...)
}

func isReference(entry []byte) bool { return len(entry) > 0 && entry[0] == refFormat }

func parseReference(entry []byte) (r reference, err error) {
	f := fields.Reader{B: entry}
	if f.Byte() != refFormat {
		f.Fail()
	}
	r.flags = f.Byte()
	copy(r.resource[:], f.Bytes(len(r.resource)))
	r.n = int(f.Max(1<<31 - 1))
	copy(r.tag[:], f.Bytes(tagLen))
	return r, f.End()
}

// LeafOf returns the leaf of a version. head is the digest of its HTTP head as the record has it (HeadDigest).
func LeafOf(v catalog.Version, head [32]byte, flags byte) Leaf {
	return Leaf{Flags: flags, At: v.At, N: v.N, SHA256: v.Digests.SHA256, Identity: Identity(v.URL, head)}
}

// lostError says why an entry leads to no leaf.
type lostError struct{ why string }

func (e *lostError) Error() string { return e.why }

// leaf returns the leaf of an entry. The error is a *lostError if the leaf is lost.
func (t Txn) leaf(entry []byte) (raw []byte, err error) {
	if !isReference(entry) {
		if _, err := ParseLeaf(entry); err != nil {
			return nil, &lostError{"cannot be read"}
		}
		return entry, nil
	}
	ref, err := parseReference(entry)
	if err != nil {
		return nil, &lostError{"cannot be read"}
	}
	raw, err = t.derive(ref.version(), ref.flags)
	if err == nil && tagOf(raw) != ref.tag {
		err = &lostError{fmt.Sprintf("is not that of the record of version %s", ref.version())}
	}
	return raw, err
}

// derive returns the leaf that the records of a version lead to. The error is a *lostError if they lead to none.
func (t Txn) derive(versionID string, flags byte) ([]byte, error) {
	r := records.Txn{Txn: t.Txn}
	v, known, err := r.Version(versionID)
	if err == nil && !known {
		return nil, &lostError{fmt.Sprintf("has no record of its version %s", versionID)}
	}
	var x *catalog.Exchange
	if err == nil {
		x, err = r.Exchange(v)
	}
	if errors.Is(err, records.ErrBadRecord) {
		return nil, &lostError{fmt.Sprintf("has a record of its version %s that cannot be read", versionID)}
	}
	if err != nil {
		return nil, err
	}
	var head [32]byte
	if x != nil {
		head = HeadDigest(x.Head)
	}
	return LeafOf(v, head, flags).Encode(), nil
}
