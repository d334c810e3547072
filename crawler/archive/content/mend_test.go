package content

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestAMissingClosedPackIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	s, packs, _ := closedPacks(t, Options{MaxPack: 400 << 10}, 5, 120_000)
	s.Close()
	os.Remove(packs[0])
	s.reopen()
	left, files, err := s.Mend(t.Context())
	if err != nil || len(left) != 1 || left[0].Why != "the pack is missing" || len(files) == 0 {
		t.Errorf("left are %v, %v, %v", left, files, err)
	}
	if _, err := os.Stat(parityName(packs[0])); err != nil {
		t.Errorf("its parity is gone, too: %v", err)
	}
}

func TestAPackWhoseNameIsWrongIsFoundAndKept(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{MaxPack: 400 << 10}, {MaxPack: 400 << 10, NoParity: true}} {
		s, packs, stored := closedPacks(t, o, 5, 120_000)
		s.Close()
		whole := read(t, packs[0])
		num, hash, _ := parsePackName(filepath.Base(packs[0]))
		wrong := filepath.Join(s.dir, closedName(num, [32]byte{1}))
		os.Rename(packs[0], wrong)
		s.reopen()
		for _, data := range stored {
			s.check(data)
		}
		if list, err := s.VerifyAll(t.Context(), nil); err != nil || len(list) == 0 {
			t.Errorf("found %v, %v", list, err)
		}
		if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, packs[0]), whole) {
			t.Errorf("pack %s: left are %v, %v", hash, left, err)
		}
		s.verify()

		s.Close()
		lost := filepath.Join(s.dir, "lost"+filepath.Base(packs[0]))
		os.Rename(packs[0], lost)
		s.reopen()
		if len(s.Damages()) == 0 {
			t.Error("a pack with a strange name is not noted")
		}
		if left, _, err := s.Mend(t.Context()); err != nil || len(left) == 0 || !bytes.Equal(read(t, lost), whole) {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}
