package content

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"odarchive/testdata/cputime"
)

// BenchmarkPutWithParity puts files that fill some packs and waits for their parity. It reports the processor time of
// the whole process per megabyte of packs, and the size of parity. Run it with -benchtime 1x.
func BenchmarkPutWithParity(b *testing.B) {
	r := rng(1)
	var list [][]byte
	for i := range 60 {
		if i%3 == 0 {
			list = append(list, noise(r, 4<<20))
		} else {
			list = append(list, table(r, 4<<20))
		}
	}
	for name, without := range map[string]bool{"with": false, "without": true} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				s := newStore(b, Options{NoParity: without})
				began := cputime.Used()
				for _, data := range list {
					s.put(data, Digest{})
				}
				s.parity.waitIdle(b.Context())
				used := cputime.Used() - began
				st, err := s.Stats()
				if err != nil {
					b.Fatal(err)
				}
				closed, parity := int64(0), int64(0)
				for name, size := range sizes(b, s.dir) {
					switch filepath.Ext(name) {
					case closedSuffix:
						closed += size
					case paritySuffix:
						parity += size
					}
				}
				b.ReportMetric(float64(used.Microseconds())/1000/(float64(st.Bytes)/(1<<20)), "cpu-ms/MB")
				b.ReportMetric(100*float64(parity)/float64(max(closed, 1)), "%size")
			}
		})
	}
}

// BenchmarkMakeParity makes the parity of one full pack, with and without computed checksums, and heals a lost 32nd of
// it.
func BenchmarkMakeParity(b *testing.B) {
	pack := noise(rng(2), 64<<20)
	enc, err := newEncoder()
	if err != nil {
		b.Fatal(err)
	}
	sums, err := sumPack(bytes.NewReader(pack), int64(len(pack)))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("checksums", func(b *testing.B) {
		b.SetBytes(int64(len(pack)))
		for range b.N {
			sumPack(bytes.NewReader(pack), int64(len(pack)))
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(pack)))
		for range b.N {
			if _, err := encodeParity(b.Context(), enc, &tolerant{r: bytes.NewReader(pack)}, sums); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func sizes(b *testing.B, dir string) map[string]int64 {
	b.Helper()
	list := map[string]int64{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list[e.Name()] = info.Size()
		}
	}
	return list
}
