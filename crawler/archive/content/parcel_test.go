package content

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"odarchive/triplestore/kv"
)

type memorySource struct{ *bytes.Reader }

func sourceOf(data []byte) memorySource { return memorySource{bytes.NewReader(data)} }

func (m memorySource) all() []byte {
	b := make([]byte, m.Reader.Size())
	m.ReadAt(b, 0)
	return b
}
func (m memorySource) Digests() Digests {
	return Digests{SHA256: sha256.Sum256(m.all()), MD5: md5.Sum(m.all())}
}
func (m memorySource) CRC32() uint32 { return crc32.ChecksumIEEE(m.all()) }

func wrapped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := NewWrapper(0).Wrap(t.Context(), sourceOf(data), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parcelFiles() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3*maxRaw+17)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	return map[string][]byte{
		"one byte": {7}, "text": bytes.Repeat([]byte("id;value\n1;2\n"), 40_000), "noise": noise, "a whole segment": noise[:maxRaw],
		"many extents": bytes.Repeat([]byte{1, 2, 3, 4}, maxRaw*80/4),
	}
}

func TestAParcelIsStoredAsTheFileItself(t *testing.T) {
	for name, data := range parcelFiles() {
		s := newStore(t, Options{})
		b := wrapped(t, data)
		p, err := s.PlaceParcel(t.Context(), bytes.NewReader(b), PutOptions{Label: []byte(`{"url":"x"}`)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var ref Ref
		if err := s.db.Update(t.Context(), func(tx *kv.Txn) (err error) { ref, err = p.Write(tx); return err }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Release()
		other := newStore(t, Options{})
		want, err := other.Put(t.Context(), bytes.NewReader(data), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ref.Family, want.Family = 0, 0; ref != want {
			t.Errorf("%s: stored as %+v, the file itself as %+v", name, ref, want)
		}
		r, err := s.Open(ref.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, r.Size())
		if _, err := r.ReadAt(got, 0); err != nil && !bytes.Equal(got, data) {
			t.Errorf("%s: read: %v", name, err)
		}
		r.Close()
		if !bytes.Equal(got, data) {
			t.Errorf("%s: other bytes are read than were wrapped", name)
		}
		var out bytes.Buffer
		if d, err := Unwrap(t.Context(), bytes.NewReader(b), &out); err != nil || d.SHA256 != ref.SHA256 ||
			!bytes.Equal(out.Bytes(), data) {
			t.Errorf("%s: Unwrap: %v", name, err)
		}
	}
}

func TestAParcelThatIsNotSoundIsRefusedAndLeavesNothing(t *testing.T) {
	data := bytes.Repeat([]byte("a,b\n1,2\n"), 30_000)
	good := wrapped(t, data)
	flip := func(at int) []byte { b := bytes.Clone(good); b[at] ^= 1; return b }
	for name, b := range map[string][]byte{
		"empty": nil, "cut in its head": good[:20], "cut in a segment": good[:len(good)-1], "cut between segments": good[:parcelHead],
		"with a tail": append(bytes.Clone(good), 0), "another magic": flip(0), "another CRC-32": flip(56), "another size": flip(67),
		"another body": flip(len(good) - 3), "another segment head": flip(parcelHead + 3),
	} {
		s := newStore(t, Options{})
		if p, err := s.PlaceParcel(t.Context(), bytes.NewReader(b), PutOptions{}); !errors.Is(err, ErrParcel) {
			t.Errorf("%s: placed (%v), error %v, want ErrParcel", name, p != nil, err)
		}
		if _, ok, _ := s.Stat(sha256.Sum256(data)); ok {
			t.Errorf("%s: the file is stored", name)
		}
	}
	s := newStore(t, Options{})
	other := Digests{SHA256: [32]byte{1}}
	if _, err := s.PlaceParcel(t.Context(), bytes.NewReader(good), PutOptions{Known: &other}); !errors.Is(err, ErrDigest) {
		t.Errorf("the parcel of another file: error %v, want ErrDigest", err)
	}
}

func FuzzParcel(f *testing.F) {
	f.Add(wrapped(f, []byte("a,b\n1,2\n")))
	f.Add(wrapped(f, bytes.Repeat([]byte{9, 8, 7}, 50_000)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		d, err := Unwrap(t.Context(), bytes.NewReader(b), &out)
		if err == nil && sha256.Sum256(out.Bytes()) != d.SHA256 {
			t.Error("a parcel was accepted whose bytes are not those of its digest")
		}
	})
}
