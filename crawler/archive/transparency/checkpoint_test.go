package transparency

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// noteOf returns a note with a tree of some size, and a line where signatures are.
func noteOf(size string) []byte {
	return []byte("log.example/log\n" + size + "\n" + tlog.Hash{}.String() + "\n\n— log.example/log AAAA\n")
}

func TestSizesThatNoTreeHasAreRefused(t *testing.T) {
	for _, size := range []string{"0", "1", fmt.Sprint(int64(maxSize - 1))} {
		if _, _, err := ParseNote(noteOf(size)); err != nil {
			t.Errorf("size %s: %v", size, err)
		}
	}
	for _, size := range []string{"", "-1", "+1", "01", "1e3", fmt.Sprint(int64(maxSize)), "4611686018427387905", "9223372036854775807",
		"9223372036854775808"} {
		if _, _, err := ParseNote(noteOf(size)); !errors.Is(err, ErrNote) {
			t.Errorf("size %q: %v, expected ErrNote", size, err)
		}
	}
}

// TestAProofForATreeOfAnImpossibleSizeIsRefused: a proof is a stranger's file, and nobody has to sign it. Its size must
// not keep whoever verifies it busy for ever.
func TestAProofForATreeOfAnImpossibleSizeIsRefused(t *testing.T) {
	leaf := Leaf{At: time.UnixMilli(0).UTC(), Identity: Identity("http://a.example/x", [32]byte{})}
	for _, size := range []string{"4611686018427387905", "9223372036854775807"} {
		p := Proof{Index: 2, Hashes: []tlog.Hash{{}}, Checkpoint: noteOf(size)}
		p.Subject.Leaf = leaf.Encode()
		ended := make(chan error, 1)
		go func() { _, err := p.Verify(leaf.SHA256, Trusted{}); ended <- err }()
		if err := <-ended; !errors.Is(err, ErrNoProof) {
			t.Errorf("size %s: %v, expected ErrNoProof", size, err)
		}
	}
}
