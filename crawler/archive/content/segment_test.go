package content

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

func TestASegmentIsDeflatedByItsLettersWhereItRepeatsNothing(t *testing.T) {
	t.Parallel()
	random := make([]byte, maxRaw)
	rand.NewChaCha8([32]byte{1}).Read(random)
	for name, c := range map[string]struct {
		raw  []byte
		most float64 // maximum deflated bytes for each raw byte
	}{
		"digests in hex":  {[]byte(hex.EncodeToString(random[:maxRaw/2])), 0.6},
		"random bytes":    {random, 1.001},
		"one line, again": {bytes.Repeat([]byte("id,name,city\n"), 4000), 0.02},
	} {
		k := newCodecs(1).get()
		for range 2 { // a codec is reused
			body, err := k.deflate(c.raw)
			if err != nil || float64(len(body)) > c.most*float64(len(c.raw)) {
				t.Errorf("%s: %d bytes of %d, %v; want at most %g of it", name, len(body), len(c.raw), err, c.most)
			}
			back := make([]byte, len(c.raw))
			if err := inflate(back, body); err != nil || !bytes.Equal(back, c.raw) {
				t.Errorf("%s does not come back: %v", name, err)
			}
		}
	}
}
