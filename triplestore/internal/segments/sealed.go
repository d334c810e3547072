// Appends checksums to the values that a triple store keeps, and verifies them.

package segments

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// ErrDamaged is wrapped by every error about a stored value that is missing or malformed.
var ErrDamaged = errors.New("damaged store")

// SealSize is the length of a checksum in bytes.
const SealSize = 8

var errSum = errors.New("wrong checksum")

// AppendSeal appends the checksum of b. id is the number under which b is stored, so that a value under another number
// is detected; it is 0 for values without a number.
func AppendSeal(b []byte, id uint64) []byte {
	return binary.LittleEndian.AppendUint64(b, sum(b, id))
}

// OpenSeal returns b, which Append returned for the same id, without its checksum. It returns an error if the checksum
// is wrong or nothing precedes it.
func OpenSeal(b []byte, id uint64) ([]byte, error) {
	if len(b) <= SealSize {
		return nil, errSum
	}
	body := b[:len(b)-SealSize]
	if binary.LittleEndian.Uint64(b[len(body):]) != sum(body, id) {
		return nil, errSum
	}
	return body, nil
}

func sum(b []byte, id uint64) uint64 { return xxhash.Sum64(b) ^ id*0x9E3779B97F4A7C15 }
