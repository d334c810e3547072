package detect

import (
	"bytes"
	"io"

	"odarchive/triplestore/compression"
)

// Bounds of what is unpacked to see whether R saved it: bytes of the compressed file, and of memory to look back.
const (
	packedRMax    = 4 << 20
	packedRWindow = 64 << 20 // of xz -9, which is the largest that R writes
)

// packedR recognises what R's save and saveRDS write, which is compressed unless the user asks for no compression: the
// compression belongs to the format. Where a whole block must be unpacked to see its first byte, it does so only for
// files that are named or declared as R's.
func (f *file) packedR(packed string) (Detection, bool) {
	format := compression.Format(packed)
	switch format {
	case compression.Gzip:
	case compression.Bzip2, compression.XZ:
		if !f.hints.says("application/x-r-data") {
			return Detection{}, false
		}
	default:
		return Detection{}, false
	}
	s, err := compression.Open(io.NewSectionReader(f.Body, 0, min(f.Size, packedRMax)), format,
		compression.Options{MaxWindow: packedRWindow})
	if err != nil {
		return Detection{}, false
	}
	defer s.Close()
	b := make([]byte, 32)
	n, _ := io.ReadFull(s, b) // of a damaged stream, what there is counts
	if b = b[:n]; rdata(b) || bytes.HasPrefix(b, []byte("RDX2\n")) || bytes.HasPrefix(b, []byte("RDX3\n")) {
		return Detection{Type: "application/x-r-data", Confidence: 0.95, Because: "what R saved, compressed with " + packed}, true
	}
	return Detection{}, false
}

// rdata recognises what R's saveRDS writes, unpacked: the format, its version 2 or 3, and the version of R that wrote
// it ("R Internals", 1.8).
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
