package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// fileName is the name of an object with a small file.
func fileName(name string, at milli) string { return fmt.Sprintf("%s%013d-%s", filesDir, at, name) }

func parseFile(key string) (name string, at milli, ok bool) {
	text, ok := strings.CutPrefix(key, filesDir)
	when, name, ok2 := strings.Cut(text, "-")
	p := parser{}
	at = milli(p.uint(when, 10))
	return name, at, ok && ok2 && !p.failed && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`)
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
		if err := c.b.Put(ctx, fileName(name, milliOf(time.Now())), int64(len(data)), bytes.NewReader(data), bucket.PutOptions{}); err != nil {
			return err
		}
		c.last[name] = data
	}
	return nil
}
