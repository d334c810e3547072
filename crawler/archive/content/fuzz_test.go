package content

import (
	"bytes"
	"io"
	"testing"
)

func FuzzRecords(f *testing.F) {
	x := extent{num: 3, family: 2,
		segments: []segment{{raw: 10, deflated: 12, crc: 7, pack: 1, offset: 16}, {raw: 5, deflated: 9, cut: 4, parts: 9}}}
	f.Add(x.encode())
	rec := fileRecord{size: 15, deflateSize: 21, family: 2}
	f.Add(rec.encode(encodeRuns([]run{{3, 0, 2}, {1, 5, 3}})[0]))
	f.Add(packRecord{end: 100, live: 50}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := decodeExtent(1, b); err == nil {
			if y, err := decodeExtent(1, x.encode()); err != nil || len(y.segments) != len(x.segments) {
				t.Errorf("%v is read back as %v, %v", x, y, err)
			}
		}
		if r, err := decodeFile(Digest{}, b, false); err == nil && r.pages == 0 && len(r.runs) < 1000 {
			again, err := decodeFile(Digest{}, r.encode(encodeRuns(r.runs)[0]), false)
			if err != nil || len(again.runs) != len(r.runs) {
				t.Errorf("%v is read back as %v, %v", r, again, err)
			}
		}
		decodePack(b)
	})
}

// FuzzPack walks through a pack of arbitrary bytes: only segments may be found in it.
func FuzzPack(f *testing.F) {
	good := append([]byte(packMagic), make([]byte, 8)...)
	good = appendSegment(good, head{extent: 1, raw: 3}, nil)
	f.Add(good)
	f.Add(appendSegment(appendSegment(good[:packHead], head{extent: 1, raw: 3, deflated: 4}, []byte("abcd")),
		head{extent: 1, index: 1, raw: 3, deflated: 2}, []byte("xy")))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := &walker{r: bytes.NewReader(b), end: int64(len(b))}
		err := w.walk(func(s found) error {
			if s.wrong == "" && !bytes.Equal(appendSegment(nil, s.head, s.bytes[segmentHead:]), s.bytes) {
				t.Errorf("%+v is not written as it was read", s.head)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// FuzzVersions puts two arbitrary files as versions of one address.
func FuzzVersions(f *testing.F) {
	text := table(rng(1), 4000)
	f.Add(text, append(bytes.Clone(text[1000:]), text[:1000]...))
	f.Add(bytes.Repeat([]byte("ab"), 3000), bytes.Repeat([]byte("aba"), 3000))
	f.Add([]byte{}, []byte("x"))
	shared := newStore(f, Options{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s := *shared
		s.t = t
		s.put(b, s.put(a, Digest{}).SHA256)
		for _, want := range [][]byte{a, b} {
			s.check(want)
		}
	})
}

// FuzzMatches checks that matches are equal bytes, in order.
func FuzzMatches(f *testing.F) {
	text := table(rng(2), 3000)
	f.Add(text, text[500:])
	f.Add(bytes.Repeat([]byte{0}, 500), bytes.Repeat([]byte{0}, 700))
	f.Fuzz(func(t *testing.T, old, newer []byte) {
		for _, whole := range []bool{true, false} {
			a, b := newView(bytes.NewReader(old), int64(len(old)), nil), newView(bytes.NewReader(newer), int64(len(newer)), nil)
			if whole {
				a, b = newView(nil, int64(len(old)), old), newView(nil, int64(len(newer)), newer)
			}
			list, err := matches(a, b)
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			at := int64(0)
			for _, m := range list {
				if m.at < at || m.old < 0 || !bytes.Equal(newer[m.at:m.at+m.n], old[m.old:m.old+m.n]) {
					t.Fatalf("%+v is no match", m)
				}
				at = m.at + m.n
			}
		}
	})
}
