// Package wacz opens files of web archives: WARC and ARC files, and WACZ packages with such files inside.
//
// A WACZ package is a zip with WARC files in archive/, and datapackage.json, which has the checksum of each file (WACZ
// 1.1.1). Files are never unpacked under the names that a package states.
package wacz

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// File is a WARC or ARC file, alone or inside a package.
type File struct {
	Name string // path of the file; inside a package, PACKAGE!PATH
	io.ReaderAt
	Size int64
}

// Reader returns a reader of the file from an offset on.
func (f *File) Reader(offset int64) io.Reader {
	return io.NewSectionReader(f, offset, max(f.Size-offset, 0))
}

// Opened is an opened file. It must be closed.
type Opened struct {
	Files   []File
	Package bool // it is a WACZ

	zip     *zip.Reader
	room    room
	closers []func() error
}

// Limits of a package.
const (
	maxEntries  = 1 << 20
	maxUnpacked = 1 << 40   // bytes of one file that is compressed in the package
	maxDocument = 128 << 20 // bytes of datapackage.json
)

// Open opens a file. Files that are compressed inside a package are unpacked to a temporary file when they are read,
// one at a time and at most maxUnpacked bytes. temp is the folder for the temporary file, "" for the system's.
func Open(name, temp string) (*Opened, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o, err := OpenReader(name, f, info.Size(), temp)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o.closers = append([]func() error{f.Close}, o.closers...)
	return o, nil
}

// OpenReader opens a file of size bytes that r reads. Close does not close r.
func OpenReader(name string, r io.ReaderAt, size int64, temp string) (*Opened, error) {
	o := &Opened{}
	if err := o.read(name, r, size, temp); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Opened) read(name string, f io.ReaderAt, size int64, temp string) (err error) {
	magic := make([]byte, 4)
	if n, _ := f.ReadAt(magic, 0); string(magic[:n]) != "PK\x03\x04" && string(magic[:n]) != "PK\x05\x06" {
		o.Files = []File{{Name: name, ReaderAt: f, Size: size}}
		return nil
	}
	o.Package = true
	if o.zip, err = zip.NewReader(f, size); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(o.zip.File) > maxEntries {
		return fmt.Errorf("%s has %d entries", name, len(o.zip.File))
	}
	for _, entry := range o.zip.File {
		if !isWARC(entry.Name) {
			continue
		}
		inside := File{Name: name + "!" + entry.Name, Size: int64(entry.UncompressedSize64)}
		if entry.Method == zip.Store {
			offset, err := entry.DataOffset()
			switch {
			case errors.Is(err, zip.ErrFormat):
				inside.ReaderAt = damaged{&DamagedError{entry.Name, errors.New("it is not where the directory of the package says")}}
			case err != nil:
				return fmt.Errorf("%s: %w", inside.Name, err)
			default:
				inside.ReaderAt = io.NewSectionReader(f, offset, inside.Size)
			}
		} else {
			inside.ReaderAt = &packedFile{room: &o.room, entry: entry, temp: temp}
		}
		o.Files = append(o.Files, inside)
	}
	if len(o.Files) == 0 {
		return fmt.Errorf("%s is a zip without a WARC file", name)
	}
	return nil
}

func isWARC(name string) bool {
	base := strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasPrefix(name, "archive/") && (strings.HasSuffix(base, ".warc") || strings.HasSuffix(base, ".arc"))
}

// Close closes the file and removes the temporary file.
func (o *Opened) Close() error {
	err := o.room.empty()
	for _, f := range slices.Backward(o.closers) {
		err = errors.Join(err, f())
	}
	o.closers = nil
	return err
}

// Check compares a package with its datapackage.json and returns the differences, one sentence each. It does not check
// the content of the WARC files. For a file that is not a package, it returns nothing.
func (o *Opened) Check(ctx context.Context) (faults []string, err error) {
	if !o.Package {
		return nil, nil
	}
	entries := map[string]*zip.File{}
	for _, entry := range o.zip.File {
		entries[entry.Name] = entry
	}
	entry := entries["datapackage.json"]
	if entry == nil {
		return []string{"the package has no datapackage.json"}, nil
	}
	var described struct {
		Resources []struct {
			Path, Hash string
			Bytes      *int64
		}
	}
	raw, err := document(entry)
	if err == nil {
		err = json.Unmarshal(raw, &described)
	}
	if err != nil {
		return []string{"datapackage.json cannot be read: " + err.Error()}, nil
	}
	named := map[string]bool{}
	for _, r := range described.Resources {
		name := path.Clean(r.Path)
		entry := entries[name]
		if named[name] && entry != nil { // do not read a file once for each time it is named
			faults = append(faults, fmt.Sprintf("datapackage.json names %.200q more than once", r.Path))
			continue
		}
		named[name] = true
		if entry == nil {
			faults = append(faults, fmt.Sprintf("datapackage.json names %.200q, which is not in the package", r.Path))
			continue
		}
		sum, size, err := sumOf(ctx, entry)
		switch {
		case ctx.Err() != nil:
			return faults, context.Cause(ctx)
		case err != nil:
			faults = append(faults, fmt.Sprintf("%s cannot be read: %v", entry.Name, err))
		case r.Bytes != nil && *r.Bytes != size:
			faults = append(faults, fmt.Sprintf("%s has %d bytes, datapackage.json says %d", entry.Name, size, *r.Bytes))
		case strings.HasPrefix(r.Hash, "sha256:") && !strings.EqualFold(r.Hash[len("sha256:"):], sum):
			faults = append(faults, fmt.Sprintf("the SHA-256 of %s is %s, datapackage.json says %.80s", entry.Name, sum, r.Hash))
		}
	}
	for _, entry := range o.zip.File {
		if isWARC(entry.Name) && !named[entry.Name] {
			faults = append(faults, entry.Name+" is not in datapackage.json")
		}
	}
	return faults, nil
}

func document(entry *zip.File) ([]byte, error) {
	in, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err == nil && len(b) > maxDocument {
		err = fmt.Errorf("it is longer than %d bytes", maxDocument)
	}
	return b, err
}

// sumOf returns the SHA-256 of an entry in hexadecimal digits, and its length.
func sumOf(ctx context.Context, entry *zip.File) (sum string, size int64, err error) {
	in, err := entry.Open()
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	h := sha256.New()
	for {
		n, err := io.CopyN(h, in, 8<<20)
		size += n
		switch {
		case err == io.EOF:
			return hex.EncodeToString(h.Sum(nil)), size, nil
		case err != nil:
			return "", size, err
		case ctx.Err() != nil:
			return "", size, context.Cause(ctx)
		case size > maxUnpacked:
			return "", size, fmt.Errorf("it is longer than %d bytes", int64(maxUnpacked))
		}
	}
}
