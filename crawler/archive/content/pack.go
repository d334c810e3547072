package content

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// A pack begins with its magic and its number. Packs of format 1 hold segments only; those of format 2 hold file and cut
// records, too.
const (
	packMagic1 = "ODPACK1\n"
	packMagic  = "ODPACK2\n"
	packHead   = 16
)

// A pack that is written is NUMBER.open; once closed it is NUMBER-HASH.pack, with the beginning of its SHA-256, and has
// NUMBER-HASH.parity beside it.
const (
	openSuffix   = ".open"
	closedSuffix = ".pack"
	paritySuffix = ".parity"
	tempSuffix   = ".new" // of a file that is not finished
	hashDigits   = 32
)

// place is where a segment lies.
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

// parsePackName returns the number of a pack and what its name says of its SHA-256, "" while it is open.
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

// headOf returns the first bytes of a pack.
func headOf(num uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(packMagic), num)
}

// headFormat returns the format that a pack's head names, 0 if it is not the head of that pack.
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
