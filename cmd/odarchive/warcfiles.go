package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"

	"github.com/dustin/go-humanize/english"
	"github.com/klauspost/compress/gzip"
)

// eachWARC calls f with each WARC or ARC file that the arguments name, including those inside WACZ packages and those
// in lists of files. After an error about a damaged package, it continues with the next file; it returns all errors
// together.
func (c *cli) eachWARC(ctx context.Context, args []string, f func(*wacz.Opened, wacz.File) error) error {
	names := args
	if c.call == nil { // the client has replaced them
		var err error
		if names, err = listed(args); err != nil {
			return err
		}
	}
	var damage error
	for _, name := range names {
		err := c.inWARC(ctx, name, func(o *wacz.Opened) error { return eachFile(o, f) })
		if damage = errors.Join(damage, err); !onlyDamage(err) {
			return damage
		}
	}
	return damage
}

// eachFile calls f with each file in a package, or with the file itself. It stops at the first error that is not about
// a damaged package.
func eachFile(o *wacz.Opened, f func(*wacz.Opened, wacz.File) error) (damage error) {
	for _, file := range o.Files {
		err := f(o, file)
		if damage = errors.Join(damage, err); !onlyDamage(err) {
			return damage
		}
	}
	return damage
}

// onlyDamage reports whether err is nil or consists only of errors about damaged packages.
func onlyDamage(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(one error) bool { return !onlyDamage(one) })
	}
	_, ofPackage := errors.AsType[*wacz.DamagedError](err)
	return err == nil || ofPackage
}

// maxPaths bounds the lines of a list of files.
const maxPaths = 1_000_000

// listed replaces each list of files among the arguments, such as Common Crawl's wat.paths.gz, by the files in the
// list.
func listed(args []string) (names []string, err error) {
	for _, name := range args {
		if !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".paths") {
			names = append(names, name)
			continue
		}
		err := eachListLine(name, func(n int, line string) error {
			path := filepath.FromSlash(line)
			if n > maxPaths || !filepath.IsLocal(path) {
				return fmt.Errorf("line %d is not the path of a file below its folder", n)
			}
			// The file is in the folder of the list, or in the folder below it that its path names.
			beside := filepath.Join(filepath.Dir(name), filepath.Base(path))
			if _, err := os.Stat(beside); err != nil {
				beside = filepath.Join(filepath.Dir(name), path)
			}
			names = append(names, beside)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// maxListLine bounds a line of a list of files or of an index, in bytes.
const maxListLine = 1 << 20

// eachListLine calls f with the number, from 1, and the text of each line of a file that is not blank. White space
// around the text is removed. A file whose name ends in .gz is decompressed.
func eachListLine(name string, f func(n int, line string) error) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxListLine)
	for n := 1; lines.Scan(); n++ {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			if err := f(n, line); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// inWARC opens a file and calls f with it.
func (c *cli) inWARC(ctx context.Context, name string, f func(*wacz.Opened) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.call != nil {
		return c.inSentWARC(ctx, name, f)
	}
	o, err := wacz.Open(name, "")
	if err != nil {
		return err
	}
	return errors.Join(f(o), o.Close())
}

// readWARC returns a reader of a file that shows its progress and fails when ctx ends. The caller must call done.
func (c *cli) readWARC(ctx context.Context, file wacz.File) (r io.Reader, done func()) {
	bar := c.progress(file.Size, "bytes")
	return &watchedReader{ctx: ctx, r: file.Reader(0), bar: bar}, bar.done
}

type watchedReader struct {
	ctx context.Context
	r   io.Reader
	bar *bar
	n   int64
}

func (w *watchedReader) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.n += int64(n)
	w.bar.set(w.n, "")
	return n, err
}

// faultyError is the error of a command that has done its work but found faults in its files.
type faultyError struct{ faults int }

func (e *faultyError) Error() string {
	return english.Plural(e.faults, "fault", "") + " in what was read"
}

// faults counts faults of files and prints each as a line.
type faults struct {
	out io.Writer
	n   int
}

// of returns a function that prints and counts a fault of a file.
func (f *faults) of(name string) func(warc.Fault) {
	return func(fault warc.Fault) {
		f.n++
		fmt.Fprintf(f.out, "%s: offset %d: %s\n", name, fault.Offset, printable(fault.Why))
	}
}

// err returns a *faultyError if there were faults.
func (f *faults) err() error {
	if f.n == 0 {
		return nil
	}
	return &faultyError{f.n}
}
