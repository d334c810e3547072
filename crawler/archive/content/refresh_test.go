package content

import (
	"slices"
	"testing"
)

func TestRefsAreBroughtUpToDateWithLaterCuts(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(11)
	var refs []Ref
	data := table(r, 300_000)
	for range 6 {
		var previous Digest
		if len(refs) > 0 {
			previous = refs[len(refs)-1].SHA256
		}
		refs = append(refs, s.put(data, previous))
		data = edit(r, data)
	}
	alone := s.put(noise(r, 5000), Digest{})
	for range 2 { // the second time with saved sizes
		refreshed := append(slices.Clone(refs), alone, Ref{SHA256: Digest{1}, Layout: 7})
		var list []*Ref
		for i := range refreshed {
			list = append(list, &refreshed[i])
		}
		if err := s.Refresh(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		changed := 0
		for i, old := range append(slices.Clone(refs), alone) {
			now, ok, err := s.Stat(old.SHA256)
			if err != nil || !ok || now != refreshed[i] {
				t.Errorf("file %d: refreshed %+v, is %+v, %v", i, refreshed[i], now, err)
			}
			if now.Layout != old.Layout {
				changed++
			}
		}
		if changed == 0 {
			t.Error("nothing was cut: this tests nothing")
		}
		if refreshed[7].Layout != 7 {
			t.Error("a ref without a family has changed")
		}
		snap := s.db.Snapshot()
		for i := range refs {
			f, _, err := readFile(snap, refs[i].SHA256)
			if err != nil || f.layout != refreshed[i].Layout || f.deflateSize != refreshed[i].DeflateSize {
				t.Errorf("file %d: layout %d is kept, not %d", i, f.layout, refreshed[i].Layout)
			}
		}
		snap.Close()
	}
	s.verify()
}
