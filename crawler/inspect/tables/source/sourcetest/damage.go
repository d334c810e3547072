package sourcetest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"time"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/tables/source"
)

const (
	// maxAllocated is the maximum number of bytes that reading a damaged file of a few KiB may allocate, all together.
	// A decoder of XZ takes 64 MiB of them.
	maxAllocated   = 80 << 20
	maxDamagedRows = 10_000
)

// damage reads damaged copies of the file, and of what it unpacks to.
func (c *conformance) damage() {
	data := make([]byte, c.in.Size)
	if _, err := c.in.Body.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	before := allocated()
	c.try("as it is", data)
	if allocated()-before > 16<<20 { // each read costs much
		for i := range 8 {
			c.try(fmt.Sprintf("an eighth of it, %d times", i), data[:len(data)*i/8])
		}
		return
	}
	c.damaged("", data, false, func(b []byte) []byte { return b })
	inner := layers(data)
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		c.damaged(name+": ", inner[name].data, len(inner) > 1, inner[name].pack)
	}
}

// damaged reads copies of data that are cut, whose bits are flipped, whose numbers are wrong, and that lack bytes or
// have too many of them.
func (c *conformance) damaged(layer string, data []byte, few bool, pack func([]byte) []byte) {
	if len(data) < 16 {
		return
	}
	times := 3
	if few {
		times = 1
	}
	try := func(what string, b []byte) { c.try(layer+what, pack(b)) }
	for i := range 8 * times {
		n := len(data) * i / (8 * times)
		try(fmt.Sprintf("cut off at %d", n), data[:n])
	}
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	for i := range 30 * times {
		at := random.IntN(len(data))
		switch i % 3 { // counts and sizes are in the beginning, indexes at the end
		case 0:
			at = random.IntN(min(len(data), 256))
		case 1:
			at = len(data) - 1 - random.IntN(min(len(data), 128))
		}
		b := bytes.Clone(data)
		b[at] ^= 1 << random.IntN(8)
		try(fmt.Sprintf("a bit of byte %d changed", at), b)
	}
	numbers := [][]byte{{0xff, 0xff, 0xff, 0x7f}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0x80}, {0x80, 0, 0, 0},
		{0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 1}, []byte("9999999999"), []byte("-1"), []byte("1e999")}
	for i := range 2 * times * len(numbers) {
		b, at := bytes.Clone(data), random.IntN(min(len(data)-8, 4096))
		copy(b[at:], numbers[i%len(numbers)])
		try(fmt.Sprintf("%q at %d", numbers[i%len(numbers)], at), b)
	}
	for i := range 6 * times {
		from := random.IntN(len(data))
		to := min(from+1+random.IntN(64), len(data))
		b := bytes.Clone(data[:from])
		if i%2 == 0 {
			b = append(append(b, data[from:to]...), data[from:to]...)
		}
		try(fmt.Sprintf("bytes %d to %d lost or twice", from, to), append(b, data[to:]...))
	}
}

// try reads a file that may be damaged. The reader must neither panic nor take long, nor much memory; the tables that
// it finds are sound, and an error is one sentence about the file.
func (c *conformance) try(what string, data []byte) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	in := c.in
	in.Size, in.Body = int64(len(data)), bytes.NewReader(data)
	o := source.Options{MaxRows: maxDamagedRows, MaxTables: 50, MaxBytes: 16 << 20, MaxUnpack: 16 << 20}
	before := allocated()
	found, err := c.read.Read(ctx, in, o)
	if n := allocated() - before; n > maxAllocated {
		c.t.Errorf("%s: reading %d bytes took %d MiB", what, len(data), n>>20)
	}
	if ctx.Err() != nil {
		c.t.Fatalf("%s: it does not end", what)
	}
	if limit := source.Limit(""); err != nil && (!oneSentence(err) ||
		!errors.Is(err, source.ErrFormat) && !errors.As(err, &limit) && !errors.Is(err, budget.ErrSpent)) {
		c.t.Errorf("%s: %v", what, err)
	}
	if err := sound(found, err); err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
}

// allocated returns the number of bytes that the process has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// layer is what a file, or a part of it, unpacks to.
type layer struct {
	data []byte
	pack func([]byte) []byte
}

// layers returns the parts of a ZIP file, and what a GZIP file unpacks to, by name.
func layers(data []byte) map[string]layer {
	found := map[string]layer{}
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if inner, err := io.ReadAll(z); err == nil {
			found["unpacked"] = layer{inner, func(b []byte) []byte {
				var out bytes.Buffer
				w := gzip.NewWriter(&out)
				_, _ = w.Write(b) // to memory
				_ = w.Close()
				return out.Bytes()
			}}
		}
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return found
	}
	parts := map[string][]byte{}
	for _, f := range z.File {
		if r, err := f.Open(); err == nil {
			parts[f.Name], _ = io.ReadAll(r) // of a file in memory
		}
	}
	for name, part := range parts {
		found[name] = layer{part, func(b []byte) []byte {
			var out bytes.Buffer
			w := zip.NewWriter(&out)
			for _, f := range z.File {
				content := parts[f.Name]
				if f.Name == name {
					content = b
				}
				if p, err := w.CreateHeader(&zip.FileHeader{Name: f.Name}); err == nil {
					_, _ = p.Write(content) // to memory
				}
			}
			_ = w.Close()
			return out.Bytes()
		}}
	}
	return found
}
