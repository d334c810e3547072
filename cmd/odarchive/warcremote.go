package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/wacz"
)

func isWebAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// firstPart is the number of bytes of a file of the web that are requested first. They show whether it is a package.
const firstPart = 64 << 10

// importURL imports the files at an address: one calls the import of each.
func (c *cli) importURL(ctx context.Context, n *app.Node, address string, one func(*wacz.Opened, wacz.File) error) error {
	remote, err := n.Pipeline.OpenFile(ctx, address, 0, firstPart, int64(c.cfg.Fetch.MaxBody))
	if err != nil {
		return err
	}
	o, err := wacz.OpenReader(address, remote, remote.Size(), "")
	if err != nil {
		return errors.Join(err, remote.Close())
	}
	return errors.Join(eachFile(o, one), o.Close(), remote.Close())
}

// importSpan imports a part of a file. name is the path or the address of the file.
func (c *cli) importSpan(ctx context.Context, n *app.Node, name string, span cdxj.Span, one func(*wacz.Opened, wacz.File) error) error {
	part, done, err := c.openSpan(ctx, n, name, span)
	if err != nil {
		return err
	}
	return errors.Join(one(&wacz.Opened{Files: []wacz.File{part}}, part), done())
}

// openSpan opens a part of a file.
func (c *cli) openSpan(ctx context.Context, n *app.Node, name string, span cdxj.Span) (part wacz.File, done func() error, err error) {
	if span.Length > math.MaxInt64-span.Offset {
		return part, nil, fmt.Errorf("no file has %d bytes at offset %d", span.Length, span.Offset)
	}
	var file io.ReaderAt
	var size int64
	if isWebAddress(name) {
		remote, err := n.Pipeline.OpenFile(ctx, name, span.Offset, span.Offset+span.Length, int64(c.cfg.Fetch.MaxBody))
		if err != nil {
			return part, nil, err
		}
		file, size, done = remote, remote.Size(), remote.Close
	} else {
		local, remove, err := c.fileOf(ctx, name)
		if err != nil {
			return part, nil, err
		}
		info, err := local.Stat()
		if err != nil {
			return part, nil, errors.Join(err, remove())
		}
		file, size, done = local, info.Size(), remove
	}
	if span.Offset >= size || span.Length > size-span.Offset {
		return part, nil, errors.Join(fmt.Errorf("%s has %d bytes; there are no %d at offset %d", name, size, span.Length, span.Offset),
			done())
	}
	part = wacz.File{Name: fmt.Sprintf("%s, from %d", name, span.Offset), ReaderAt: io.NewSectionReader(file, span.Offset, span.Length),
		Size: span.Length}
	return part, done, nil
}

// fileOf opens a file. One that a client sends is copied to a temporary file, which done removes.
func (c *cli) fileOf(ctx context.Context, name string) (file *os.File, done func() error, err error) {
	if c.call == nil {
		file, err = os.Open(name)
		return file, func() error { return file.Close() }, err
	}
	in, err := c.call.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	if file, err = os.CreateTemp(filepath.Join(c.cfg.Data, "tmp"), "sent-"); err != nil {
		return nil, nil, err
	}
	done = func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }
	for {
		err := errors.Join(ctx.Err(), c.call.node.DB.Room())
		if err == nil {
			_, err = io.CopyN(file, in, sentPart)
		}
		if errors.Is(err, io.EOF) {
			return file, done, nil
		}
		if err != nil {
			return nil, nil, errors.Join(err, done())
		}
	}
}

// sentPart is how much of a file that a client sends is written before the room on the disk is looked at again.
const sentPart = 8 << 20

// inSentWARC is inWARC for a file that a client sends.
func (c *cli) inSentWARC(ctx context.Context, name string, f func(*wacz.Opened) error) error {
	file, done, err := c.fileOf(ctx, name)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, done())
	}
	o, err := wacz.OpenReader(name, file, info.Size(), filepath.Join(c.cfg.Data, "tmp"))
	if err != nil {
		return errors.Join(err, done())
	}
	return errors.Join(f(o), o.Close(), done())
}

// importListed imports the captures of an index, one after the other. base is the folder or the address below which the
// files are that the index names. A line that does not name a part of a file is a fault.
func (c *cli) importListed(ctx context.Context, n *app.Node, index, base string, found *faults,
	one func(*wacz.Opened, wacz.File) error) error {
	return eachListLine(index, func(number int, line string) error {
		if strings.HasPrefix(line, "!") { // describes the index
			return nil
		}
		part, done, err := c.openListed(ctx, n, base, line)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			found.n++
			fmt.Fprintf(c.stderr, "%s: line %d: %s\n", index, number, printable(err.Error()))
			return nil
		}
		return errors.Join(one(&wacz.Opened{Files: []wacz.File{part}}, part), done())
	})
}

// openListed opens the part of a file that a line of an index names.
func (c *cli) openListed(ctx context.Context, n *app.Node, base, line string) (wacz.File, func() error, error) {
	capture, err := cdxj.ParseLine(line)
	if err != nil {
		return wacz.File{}, nil, err
	}
	if capture.Length == 0 {
		return wacz.File{}, nil, errors.New("it does not state the length of the record")
	}
	name, err := below(base, capture.File)
	if err != nil {
		return wacz.File{}, nil, err
	}
	return c.openSpan(ctx, n, name, capture.Span)
}

// below returns the path or address of the file with a name, below a folder or an address. Names that lead elsewhere,
// such as ../x, are errors.
func below(base, name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%.200q is not the name of a file below %s", name, base)
	}
	if isWebAddress(base) {
		u, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		return u.JoinPath(name).String(), nil
	}
	return filepath.Join(base, filepath.FromSlash(name)), nil
}
