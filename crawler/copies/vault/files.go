package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
)

// fileCopier copies small files of the data directory whenever they have changed.
type fileCopier struct {
	b    bucket.Bucket
	src  Source
	last map[string][]byte
}

// fileCopy is the name of an object with a small file.
type fileCopy struct {
	name string
	at   milli
	crc  uint32 // CRC-32C of the bytes
	key  string
}

func fileName(name string, at milli, data []byte) string {
	return fmt.Sprintf("%s%013d-%08x-%s", filesDir, at, crc32.Checksum(data, castagnoli), name)
}

func parseFile(key string) (f fileCopy, ok bool) {
	text, ok := strings.CutPrefix(key, filesDir)
	when, name, ok2 := strings.Cut(text, "-")
	sum, name, ok3 := strings.Cut(name, "-")
	crc, err := strconv.ParseUint(sum, 16, 32)
	p := parser{}
	f = fileCopy{name: name, at: milli(p.uint(when, 10)), crc: uint32(crc), key: key}
	return f, ok && ok2 && ok3 && len(sum) == 8 && err == nil && !p.failed && filepath.IsLocal(f.name) && !strings.ContainsAny(f.name, `/\`)
}

// check returns ErrBroken if data are not the bytes that were copied.
func (f fileCopy) check(data []byte) error {
	if crc32.Checksum(data, castagnoli) != f.crc {
		return fmt.Errorf("%w: %s differs from its checksum", ErrBroken, f.key)
	}
	return nil
}

// listFiles returns the copies of small files, by name, oldest first.
func listFiles(ctx context.Context, b bucket.Bucket) (map[string][]fileCopy, error) {
	all := make(map[string][]fileCopy)
	for info, err := range b.List(ctx, filesDir, "") {
		if err != nil {
			return nil, err
		}
		if f, ok := parseFile(info.Key); ok {
			all[f.name] = append(all[f.name], f)
		}
	}
	return all, nil
}

// copy copies the files that have changed since the last call.
func (c *fileCopier) copy(ctx context.Context) error {
	if c.last == nil {
		c.last = make(map[string][]byte)
	}
	for _, name := range c.src.Files {
		data, err := os.ReadFile(filepath.Join(c.src.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if old, ok := c.last[name]; ok && bytes.Equal(old, data) {
			continue
		}
		if err := c.b.Put(ctx, fileName(name, milliOf(time.Now()), data), int64(len(data)), bytes.NewReader(data),
			bucket.PutOptions{}); err != nil {
			return err
		}
		c.last[name] = data
	}
	return nil
}

// names returns the names of the copied files.
func (c *fileCopier) names() []string { return slices.Sorted(maps.Keys(c.last)) }
