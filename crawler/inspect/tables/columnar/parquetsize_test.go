package columnar

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"odarchive/crawler/inspect/tables/source"
)

// footed returns a Parquet file with a footer, whose length may be another.
func footed(footer []byte, length uint32) []byte {
	b := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(b, length), "PAR1"...)
}

// counted returns the field of a structure that is a list of n elements of a kind.
func counted(n uint64, kind byte) []byte {
	return binary.AppendUvarint([]byte{0x19, 0xF0 | kind}, n)
}

// readParquet reads a file, and returns the bytes that were allocated meanwhile.
func readParquet(t *testing.T, body []byte) (rows int, made uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := parquetFile(t.Context(), source.Input{Size: int64(len(body)), Body: bytes.NewReader(body)},
		source.Options{}.WithDefaults())
	runtime.ReadMemStats(&after)
	for _, p := range found {
		rows += int(p.Rows)
	}
	return rows, after.TotalAlloc - before.TotalAlloc, err
}

func TestLengthsAndCountsOfAParquetFileAreNotBelieved(t *testing.T) {
	bombs := map[string][]byte{
		"a footer of 4 GiB":             footed(nil, 0xFFFFFFFE),
		"a footer longer than the file": footed(make([]byte, 10), 100),
		"a footer of its whole length":  footed(make([]byte, 10), 18),
	}
	for _, n := range []uint64{1 << 20, 1 << 28, 1<<31 - 1, 1 << 40, 1<<64 - 1} {
		for name, kind := range map[string]byte{"structures": thriftStruct, "texts": thriftBinary, "numbers": 5, "lists": thriftList,
			"bytes": thriftByte} {
			list := append(counted(n, kind), 0, 0, 0, 0)
			bombs[name] = footed(list, uint32(len(list)))
			nested := append([]byte{0x1C}, list...) // in a structure
			bombs["nested "+name] = footed(nested, uint32(len(nested)))
			pairs := binary.AppendUvarint([]byte{0x1B}, n)
			pairs = append(pairs, 8<<4|kind)
			bombs["maps to "+name] = footed(pairs, uint32(len(pairs)))
		}
		for name, b := range bombs {
			if rows, made, err := readParquet(t, b); err == nil || rows != 0 || made > 16<<20 {
				t.Errorf("%s of %d: %d rows, %d MiB allocated, %v", name, n, rows, made>>20, err)
			}
		}
	}
	deep := bytes.Repeat([]byte{0x1C}, 1<<20)
	if _, made, err := readParquet(t, footed(deep, uint32(len(deep)))); err == nil || made > 64<<20 {
		t.Errorf("structures in structures: %d MiB, %v", made>>20, err)
	}
}

type oneText struct{ Text string }

// The sizes in the heads of pages are those of the file, of what is unpacked from it, or wrong.
func TestPagesThatUnpackToMoreThanIsAllowedAreRefused(t *testing.T) {
	for name, c := range map[string]parquet.WriterOption{"snappy": parquet.Compression(&parquet.Snappy),
		"gzip": parquet.Compression(&parquet.Gzip),
		"zstd": parquet.Compression(&parquet.Zstd), "brotli": parquet.Compression(&parquet.Brotli),
		"lz4": parquet.Compression(&parquet.Lz4Raw), "none": parquet.Compression(&parquet.Uncompressed)} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[oneText](&file, c)
		if _, err := w.Write([]oneText{{strings.Repeat("a", 1000)}, {strings.Repeat("ab", 5000)}, {"c"}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		whole := file.Bytes()
		if rows, _, err := readParquet(t, whole); err != nil || rows != 3 {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
		for at := 4; at < min(60, len(whole)-8); at++ { // the sizes in the head of the page, and what is packed
			for _, with := range [][]byte{{0xFE, 0xFF, 0xFF, 0xFF, 0x0F}, {0xFF}, {0}} {
				b := bytes.Clone(whole)
				copy(b[at:len(b)-8], with)
				if _, made, err := readParquet(t, b); made > 600<<20 {
					t.Errorf("%s, % x at byte %d: %d MiB, %v", name, with, at, made>>20, err)
				}
			}
		}
	}
}
