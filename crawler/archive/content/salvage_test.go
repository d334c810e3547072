package content

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
)

// extract salvages everything from the store's packs.
func (s *testStore) extract() (files map[Digest][]byte, labels map[Digest]string, report SalvageReport) {
	s.t.Helper()
	files, labels = map[Digest][]byte{}, map[Digest]string{}
	report, err := Salvage(s.t.Context(), s.fs, s.dir, func(f SalvagedFile) error {
		var data bytes.Buffer
		n, err := f.WriteTo(&data)
		if (err == nil) != (f.Missing == 0) || err != nil && !errors.Is(err, ErrDamaged) {
			s.t.Errorf("%s: %d segments are missing, and writing gives %v", f.SHA256, f.Missing, err)
		}
		if err == nil && n == f.Size {
			files[f.SHA256] = data.Bytes()
		}
		labels[f.SHA256] = string(f.Label)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files, labels, report
}

func (s *testStore) putLabelled(data []byte, previous Digest, label string) Digest {
	s.t.Helper()
	ref, err := s.Put(s.t.Context(), bytes.NewReader(data), PutOptions{Previous: previous, Label: []byte(label)})
	if err != nil {
		s.t.Fatal(err)
	}
	return ref.SHA256
}

func TestFilesAreExtractedFromPacksAloneAlsoAfterCutsAndCompaction(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 120 << 10, Waste: 0.05})
	r := rng(1)
	want := map[Digest][]byte{}
	chains := [][]byte{table(r, 90_000), noise(r, 30_000), table(r, 2000)}
	shas := make([]Digest, len(chains))
	for round := range 12 {
		for i := range chains {
			if round > 0 {
				chains[i] = edit(r, chains[i])
			}
			sha := Digest(sha256.Sum256(chains[i]))
			if _, there := want[sha]; !there {
				s.putLabelled(chains[i], shas[i], sha.String())
			}
			shas[i], want[sha] = sha, chains[i]
		}
		if round%4 == 3 {
			dropped := shas[1]
			if err := s.Forget(t.Context(), dropped); err != nil {
				t.Fatal(err)
			}
			delete(want, dropped)
			chains[1] = noise(r, 30_000)
			if _, err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c, err := s.Compact(t.Context()); err != nil || c.Packs > 1 {
				t.Errorf("compacting again rewrites %d packs, %v", c.Packs, err)
			}
		}
	}
	files, labels, report := s.extract()
	for sha, data := range want {
		if !bytes.Equal(files[sha], data) || labels[sha] != sha.String() {
			t.Errorf("%s: %d bytes of %d, label %q", sha, len(files[sha]), len(data), labels[sha])
		}
	}
	if report.Whole < len(want) || len(report.Damages) > 0 || report.Packs == 0 || report.Segments == 0 {
		t.Errorf("%+v", report)
	}
	s.verify()
}

func TestAFileOfManyRunsIsExtracted(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(2)
	data := table(r, 1<<20)
	sha := s.putLabelled(data, Digest{}, "first")
	for i := range 25 { // many cuts
		for at := i * 300; at+20 < len(data); at += 25_000 {
			copy(data[at:], "another value here")
		}
		sha = s.putLabelled(bytes.Clone(data), sha, "")
	}
	f, _, err := func() (fileRecord, bool, error) {
		snap := s.kv.Snapshot()
		defer snap.Close()
		return readRuns(snap, sha)
	}()
	if parts := len(encodePages(f.runs, fileRecordRuns)); err != nil || len(f.runs) < 500 {
		t.Fatalf("%d runs, %d parts, %v", len(f.runs), parts, err)
	}
	if files, _, _ := s.extract(); !bytes.Equal(files[sha], data) {
		t.Error("it is not what was put")
	}
}

func TestAFileRecordOfSeveralPartsIsPutTogether(t *testing.T) {
	t.Parallel()
	runs := make([]run, 40_000)
	for i := range runs {
		runs[i] = run{extent: uint64(i*i%7919 + 1), first: i % 30, n: 1}
	}
	p := &put{s: newStore(t, Options{}).Store, file: fileRecord{sha: Digest{1}, size: 5, runs: runs}, records: packDeltas{},
		label: []byte("label")}
	w := &segmentWriter{s: p.s}
	if err := p.appendRecords(w); err != nil {
		t.Fatal(err)
	}
	var got []run
	parts := 0
	report, err := Salvage(t.Context(), p.s.fs, p.s.dir, func(f SalvagedFile) error {
		for _, part := range f.parts {
			got = append(got, part.runs...)
			parts++
		}
		if string(f.Label) != "label" || f.Missing == 0 {
			t.Errorf("%+v", f)
		}
		return nil
	})
	if err != nil || report.Files != 1 || parts < 3 || fmt.Sprint(got) != fmt.Sprint(runs) {
		t.Errorf("%d parts, %d runs of %d, %v", parts, len(got), len(runs), err)
	}
}

func TestSalvageUsesParityAndNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10}, 7, 120_000)
	flip(t, packs[0], 5000)
	flip(t, packs[1], 900)
	files, _, report := s.extract()
	for _, data := range stored {
		if !bytes.Equal(files[sha256.Sum256(data)], data) {
			t.Error("a file does not come through parity")
		}
	}
	if len(report.Damages) != 2 {
		t.Errorf("reported are %v", report.Damages)
	}
	flip(t, s.openPack(), 3000)
	files, _, report = s.extract()
	if report.Files != len(stored) || report.Whole != len(stored)-1 || len(files) != len(stored)-1 {
		t.Errorf("%+v", report)
	}
}

func TestALabelThatIsTooLongIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	sha := s.putLabelled([]byte("some bytes"), Digest{}, string(make([]byte, maxLabel+1)))
	if files, labels, _ := s.extract(); string(files[sha]) != "some bytes" || labels[sha] != "" {
		t.Errorf("%q, label of %d bytes", files[sha], len(labels[sha]))
	}
}

func TestFileRecordsCountAsNeitherLiveNorWaste(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	for i := range 50 {
		s.putLabelled(noise(rng(uint64(i)), 10), Digest{}, "http://example.org/a/rather/long/address/of/a/small/file.csv")
	}
	st, err := s.Stats()
	if err != nil || st.Records < 50*100 || st.Waste != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	for range 3 {
		if c, err := s.Compact(t.Context()); err != nil || c.Packs > 0 {
			t.Errorf("%+v, %v", c, err)
		}
	}
	s.recent = recent{}
	if _, err := s.GC(t.Context(), func([32]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stats(); err != nil || st.Records != 0 {
		t.Errorf("after everything was collected: %+v, %v", st, err)
	}
}

func FuzzPackedFile(f *testing.F) {
	file := packedFile{sha: Digest{1}, size: 5, parts: 1, label: []byte("l"), runs: []run{{1, 0, 1}}}
	f.Add(file.encode(encodePages(file.runs, fileRecordRuns)[0]))
	f.Add(cutRecord{parts: 4, pieces: 3}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeCut(b)
		file, err := decodePackedFile(b)
		if err != nil || len(file.runs) > 1000 {
			return
		}
		again, err := decodePackedFile(file.encode(encodePages(file.runs, fileRecordRuns)[0]))
		if err != nil || !bytes.Equal(again.label, file.label) || len(again.runs) != len(file.runs) {
			t.Errorf("%+v is read back as %+v, %v", file, again, err)
		}
	})
}

func FuzzParityHead(f *testing.F) {
	h := parityHead{num: 3, pack: packSums{size: 5000, blocks: []uint32{1, 2}}, parity: []uint32{3, 4}}
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeParityHead(b); err == nil && !bytes.HasPrefix(b, h.encode()) {
			t.Errorf("%+v is not written as it was read", h)
		}
	})
}

var _ io.WriterTo = (*SalvagedFile)(nil)
