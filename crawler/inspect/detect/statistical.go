package detect

import "bytes"

// rdata recognises what R's saveRDS writes, unpacked: the format, its version 2 or 3, and the version of R that wrote it ("R
// Internals", 1.8).
func rdata(b []byte) bool {
	switch {
	case len(b) < 18 || b[1] != '\n':
		return false
	case b[0] == 'X':
		return bytes.HasPrefix(b[2:], []byte{0, 0, 0, 2, 0}) || bytes.HasPrefix(b[2:], []byte{0, 0, 0, 3, 0})
	case b[0] == 'B':
		return bytes.HasPrefix(b[2:], []byte{2, 0, 0, 0}) && b[9] == 0 || bytes.HasPrefix(b[2:], []byte{3, 0, 0, 0}) && b[9] == 0
	}
	return false
}
