package content

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPacksAreReadInPartsAndKeptForWhoCopiesThem(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 120 << 10, Waste: 0.01})
	var last Digest
	for i := range uint64(8) {
		data := noise(rng(1), 50_000)
		copy(data[i*1000:], noise(rng(i+2), 500))
		last = s.put(data, last).SHA256
	}
	list, err := s.PacksFrom(0)
	if err != nil || len(list) < 2 || !list[0].Closed {
		t.Fatalf("%v, %v", list, err)
	}
	if rest, err := s.PacksFrom(list[1].Number()); err != nil || len(rest) != len(list)-1 {
		t.Errorf("from the second one: %v, %v", rest, err)
	}
	need, err := PacksOf(s.db)
	if err != nil || len(need) != len(list) {
		t.Errorf("the database needs %v, %v", need, err)
	}
	first := list[0]
	want, err := os.ReadFile(filepath.Join(s.dir, first.Name))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 1000)
	if err := s.ReadPack(first, got, 500); err != nil || !bytes.Equal(got, want[500:1500]) {
		t.Errorf("%v, or other bytes", err)
	}
	if err := s.ReadPack(first, got, first.Size-10); err == nil {
		t.Error("bytes after the end were read")
	}
	s.SetKeep(func(name string) bool { return name == first.Name })
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadPack(first, got, 500); err != nil {
		t.Errorf("a pack that is kept: %v", err)
	}
	s.SetKeep(nil)
	if c, err := s.Compact(t.Context()); err != nil || c.Packs == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := s.ReadPack(first, got, 500); !errors.Is(err, ErrNotFound) {
		t.Errorf("a pack that was dropped: %v", err)
	}
}
