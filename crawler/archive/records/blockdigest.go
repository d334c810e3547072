package records

import (
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// The record of a block digest (tableBlock) is: format (1 byte), the head's mark (8 bytes), SHA-256 (32 bytes). It can
// be computed again from the version, so an unreadable one counts as missing.
const (
	blockFormat = 1
	blockLen    = 1 + 8 + 32
)

// BlockDigest returns the SHA-256 of a version's record in a WARC file, if it is stored for a head with this mark.
func (t Txn) BlockDigest(versionID string, head [8]byte) (sum [32]byte, ok bool, err error) {
	resource, n, isID := ns.SplitVersionID(versionID)
	if !isID {
		return sum, false, nil
	}
	_, err = t.Read(kv.SpaceArchive, VersionKey(tableBlock, resource, n), func(b []byte) error {
		if len(b) == blockLen && b[0] == blockFormat && [8]byte(b[1:9]) == head {
			sum, ok = [32]byte(b[9:]), true
		}
		return nil
	})
	return sum, ok, err
}

// SetBlockDigest stores the SHA-256 of a version's record in a WARC file.
func (t Txn) SetBlockDigest(versionID string, head [8]byte, sum [32]byte) error {
	resource, n, ok := ns.SplitVersionID(versionID)
	if !ok {
		return NotFound("version", versionID)
	}
	b := append(append([]byte{blockFormat}, head[:]...), sum[:]...)
	return t.Set(kv.SpaceArchive, VersionKey(tableBlock, resource, n), b)
}
