package ocfl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// tree is a folder of strangers. Nothing outside it is opened, and links are not followed.
type tree struct {
	root *os.Root
	max  int64 // bytes of a content file
}

// Limits of folders of strangers.
const (
	maxDepth   = 40
	maxEntries = 10_000_000 // of one object
)

// list returns the entries of a folder.
func (t tree) list(dir string) ([]fs.DirEntry, error) {
	f, err := t.root.Open(dir)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	return entries, errors.Join(err, f.Close())
}

// read returns the bytes of a regular file of at most limit bytes.
func (t tree) read(name string, limit int64) ([]byte, error) {
	info, err := t.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), limit)
	}
	f, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return text, errors.Join(err, f.Close())
}

// files returns the regular files below a folder, with their paths from the folder base, and the empty folders.
// Anything but folders and regular files is an error.
func (t tree) files(ctx context.Context, base, dir string) (files map[string]bool, empty []string, err error) {
	files = map[string]bool{}
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if depth > maxDepth {
			return fmt.Errorf("%s: folders in more than %d folders", dir, maxDepth)
		}
		entries, err := t.list(path.Join(base, dir))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			empty = append(empty, dir)
		}
		for _, e := range entries {
			at := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				if err := walk(at, depth+1); err != nil {
					return err
				}
			case !e.Type().IsRegular():
				return fmt.Errorf("%s is not a regular file", at)
			case len(files) == maxEntries:
				return fmt.Errorf("it has more than %d files", maxEntries)
			default:
				files[at] = true
			}
		}
		return nil
	}
	err = walk(dir, 0)
	return files, empty, err
}

// objects calls f with the folder of each object, until f fails. It calls other with the path of everything else that
// does not belong into a storage root.
func (t tree) objects(ctx context.Context, f func(dir string) error, other func(what string)) error {
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if depth > maxDepth {
			other(dir + ": folders in more than " + fmt.Sprint(maxDepth) + " folders")
			return nil
		}
		entries, err := t.list(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "0=ocfl_object_") {
				return f(dir)
			}
		}
		if len(entries) == 0 {
			other(dir + " is an empty folder")
		}
		for _, e := range entries {
			at := path.Join(dir, e.Name())
			switch {
			case dir == "." && e.Name() == extensionsDir:
			case e.IsDir():
				if err := walk(at, depth+1); err != nil {
					return err
				}
			case dir != ".":
				other(at + " is no part of a storage root")
			}
		}
		return nil
	}
	return walk(".", 0)
}
