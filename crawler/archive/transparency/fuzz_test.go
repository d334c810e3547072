package transparency

import (
	"testing"

	"odarchive/triplestore/kv"
)

// FuzzProof reads proofs and notes of strangers: whatever the bytes are, nothing panics, and nothing is proved that the
// log did not sign.
func FuzzProof(f *testing.F) {
	db := newDB(f)
	grow(f, db, 40)
	s := newSigner(f, db)
	sign(f, s)
	keys := verifiers(f, publicOf(f, s)...)
	f.Add(proofOf(f, db, 12, publicOf(f, s)))
	f.Add([]byte(ProofType + "\nextra e30=\nindex 0\n\na\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— a AAAA\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParseProof(text)
		if err != nil {
			return
		}
		if v, err := p.Verify(leafAt(12).SHA256, Trusted{Keys: keys}); err == nil && (v.Index != 12 || v.Size != 40) {
			t.Errorf("proved: %+v", v)
		}
		again, err := p.Format()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseProof(again); err != nil && len(again) <= MaxProof {
			t.Errorf("not read again: %v", err)
		}
	})
}

// FuzzFile asks for files by strangers' names.
func FuzzFile(f *testing.F) {
	db := newDB(f)
	grow(f, db, 300)
	for _, name := range []string{"tile/0/000", "tile/0/001.p/44", "tile/entries/000", "tile/1/000.p/1", "checkpoint", "tile/0/x001/234"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b, err := OfArchive(db)(t.Context(), name)
		if err == nil && len(b) > maxTileFile {
			t.Errorf("%q has %d bytes", name, len(b))
		}
		if tile, ok := parseTile(name); ok && tile.path() != name {
			t.Errorf("%q is %q", name, tile.path())
		}
	})
}

// FuzzLeaf decodes leaves.
func FuzzLeaf(f *testing.F) {
	f.Add(leafAt(3).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if l, err := ParseLeaf(raw); err == nil && string(l.Encode()) != string(raw) {
			t.Errorf("%x is encoded as %x", raw, l.Encode())
		}
	})
}

// FuzzKeys parses keys of strangers, and key files.
func FuzzKeys(f *testing.F) {
	f.Add("witness.example/w1+00000000+BAAA")
	f.Add("PRIVATE+COSIGNER+a+AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := ParseVerifier(text); err == nil && v.Verify([]byte("a\n"), make([]byte, 72)) {
			t.Errorf("%q verifies zeros", text)
		}
		_, _ = parseKey(text)
		_, _ = ParseCosigner(text, nil)
	})
}

// BenchmarkAppend measures what a version costs the log: processor time of its part of the transaction, and bytes.
func BenchmarkAppend(b *testing.B) {
	db, err := kv.Open(b.TempDir(), kv.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	i := 0
	for b.Loop() {
		err := db.Update(b.Context(), func(txn *kv.Txn) error {
			for range 64 { // so that the commit itself does not count
				if _, err := (Txn{txn}).Append(idAt(i), leafAt(i)); err != nil {
					return err
				}
				i++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i), "ns/leaf")
	if i > 0 { // two records a leaf, and a hash for each 256
		b.ReportMetric(float64(1+1+indexLen+LeafLen+1+1+6+indexLen)+float64(1+2+indexLen+32)/tileWidth, "bytes/leaf")
	}
}
