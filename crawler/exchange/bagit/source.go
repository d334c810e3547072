package bagit

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Limits of bags of strangers.
const (
	maxFiles = 5_000_000
	maxDepth = 60
	maxTag   = 256 << 20 // bytes of a tag file that is read
	maxLine  = 16 << 20
)

// source is a bag that is read: its regular files by their paths.
type source struct {
	sizes    map[string]int64
	modified time.Time // of the declaration
	open     func(name string) (io.ReadCloser, error)
	close    func() error
}

// openSource opens a bag: a folder, or a zip. Nothing outside it is opened, and links are not followed.
func openSource(ctx context.Context, name string) (*source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(ctx, name)
	}
	return openZip(name)
}

const declaration = "bagit.txt"

func openFolder(ctx context.Context, name string) (_ *source, err error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	s := &source{sizes: map[string]int64{}, close: root.Close}
	s.open = func(name string) (io.ReadCloser, error) { return root.Open(name) }
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if depth > maxDepth {
			return fmt.Errorf("%s: folders in more than %d folders", dir, maxDepth)
		}
		f, err := root.Open(dir)
		if err != nil {
			return err
		}
		entries, err := f.ReadDir(-1)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		for _, e := range entries {
			at := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				if err := walk(at, depth+1); err != nil {
					return err
				}
			case e.Type().IsRegular():
				info, err := e.Info()
				if err != nil {
					return err
				}
				if err := s.add(at, info); err != nil {
					return err
				}
			default:
				return fmt.Errorf("%s is not a regular file", at)
			}
		}
		return nil
	}
	return s, walk(".", 0)
}

func (s *source) add(name string, info fs.FileInfo) error {
	if _, twice := s.sizes[name]; twice {
		return fmt.Errorf("%.200q is there twice", name)
	}
	if len(s.sizes) == maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	s.sizes[name] = info.Size()
	if name == declaration {
		s.modified = info.ModTime()
	}
	return nil
}

func openZip(name string) (_ *source, err error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a folder nor a zip: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, z.Close())
		}
	}()
	s := &source{sizes: map[string]int64{}, close: z.Close}
	files := map[string]*zip.File{}
	s.open = func(name string) (io.ReadCloser, error) {
		f := files[name]
		if f == nil {
			return nil, fs.ErrNotExist
		}
		return f.Open()
	}
	top, err := topFolder(z.File)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		name, inside := strings.CutPrefix(f.Name, top)
		switch {
		case strings.HasSuffix(f.Name, "/"):
			continue
		case !inside:
			return nil, fmt.Errorf("%.200q is beside the folder of the bag", f.Name)
		case !fs.ValidPath(name) || strings.Contains(name, `\`):
			return nil, fmt.Errorf("the path %.200q leads out of the bag", f.Name)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("%.200q is not a regular file", f.Name)
		case f.UncompressedSize64 > 1<<62:
			return nil, fmt.Errorf("%.200q has %d bytes", f.Name, f.UncompressedSize64)
		}
		if err := s.add(name, f.FileInfo()); err != nil {
			return nil, err
		}
		files[name] = f
	}
	return s, nil
}

// topFolder returns the folder of a zip that has the declaration, with a slash at its end, or "".
func topFolder(files []*zip.File) (string, error) {
	for _, f := range files {
		if dir, name := path.Split(f.Name); name == declaration && strings.Count(dir, "/") <= 1 && dir != "/" {
			return dir, nil
		}
	}
	return "", errNoBag
}

var errNoBag = errors.New("it is no bag: there is no " + declaration)

// text reads a tag file.
func (s *source) text(name string) (string, error) {
	size, there := s.sizes[name]
	if !there {
		return "", fmt.Errorf("there is no %s", name)
	}
	if size > maxTag {
		return "", fmt.Errorf("%s has %d bytes, more than %d", name, size, int64(maxTag))
	}
	f, err := s.open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTag))
	return string(text), errors.Join(err, f.Close())
}
