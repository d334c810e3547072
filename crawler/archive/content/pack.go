package content

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// A pack begins with its magic and its number. Packs of format 1 hold only segments; those of format 2 also hold file
// and cut records.
const (
	packMagic1 = "ODPACK1\n"
	packMagic  = "ODPACK2\n"
	packHead   = 16
)

// An open pack is named NUMBER.open, a closed one NUMBER-HASH.pack, with the first half of its SHA-256.
// NUMBER-HASH.parity is its parity.
const (
	openSuffix   = ".open"
	closedSuffix = ".pack"
	paritySuffix = ".parity"
	tempSuffix   = ".new" // of an unfinished file
	hashDigits   = 32
)

// place is the place of a segment.
type place struct {
	pack   uint64
	offset int64
}

func openName(num uint64) string { return fmt.Sprintf("%012d", num) + openSuffix }

func closedName(num uint64, sum [32]byte) string {
	return fmt.Sprintf("%012d-%x", num, sum[:hashDigits/2]) + closedSuffix
}

// parityName returns the name of a closed pack's parity.
func parityName(pack string) string { return strings.TrimSuffix(pack, closedSuffix) + paritySuffix }

// parsePackName returns the number of a pack and the part of its SHA-256 in its name, "" for an open pack.
func parsePackName(name string) (num uint64, hash string, ok bool) {
	base, closed := strings.CutSuffix(name, closedSuffix)
	if closed {
		if base, hash, ok = strings.Cut(base, "-"); !ok || len(hash) != hashDigits {
			return 0, "", false
		}
	} else if base, ok = strings.CutSuffix(name, openSuffix); !ok {
		return 0, "", false
	}
	num, err := strconv.ParseUint(base, 10, 48)
	return num, hash, err == nil && num > 0
}

func isClosed(name string) bool { return strings.HasSuffix(name, closedSuffix) }

// headOf returns the head of a pack.
func headOf(num uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(packMagic), num)
}

// headFormat returns the format in a pack's head, 0 if b is not the head of that pack.
func headFormat(b []byte, num uint64) int {
	if len(b) < packHead || binary.BigEndian.Uint64(b[len(packMagic):]) != num {
		return 0
	}
	switch string(b[:len(packMagic)]) {
	case packMagic1:
		return 1
	case packMagic:
		return 2
	}
	return 0
}
