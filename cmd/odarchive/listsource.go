package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// listSource is an open list. One that is read twice can be sought: standard input and pipes are copied to a temporary
// file first.
type listSource struct {
	io.Reader
	file   *os.File // nil if it is standard input
	copied bool     // file is temporary
	size   int64    // -1 if unknown
}

// openList opens a list: "-" is standard input. The caller closes it.
func (c *cli) openList(name string, twice bool) (*listSource, error) {
	in, err := c.openInput(name)
	if err != nil {
		return nil, err
	}
	l := &listSource{Reader: in, size: -1}
	if f, isFile := in.(*os.File); isFile {
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", name)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		l.Reader, l.file = f, f
		if info.Mode().IsRegular() {
			l.size = info.Size()
			return l, nil
		}
	}
	if !twice {
		return l, nil
	}
	if err := l.copy(); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the list %s: %w", name, err), l.Close())
	}
	return l, nil
}

// copy replaces the list by a temporary copy.
func (l *listSource) copy() error {
	tmp, err := os.CreateTemp("", "odarchive-list-*")
	if err != nil {
		return err
	}
	from, was := l.Reader, l.file
	l.Reader, l.file, l.copied = tmp, tmp, true
	l.size, err = io.Copy(tmp, from)
	if was != nil {
		err = errors.Join(err, was.Close())
	}
	return errors.Join(err, l.rewind())
}

// rewind begins again. The list must be a file.
func (l *listSource) rewind() error {
	_, err := l.file.Seek(0, io.SeekStart)
	return err
}

// Close closes the list, and removes it if it is a copy.
func (l *listSource) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.copied {
		err = errors.Join(err, os.Remove(l.file.Name()))
	}
	return err
}
