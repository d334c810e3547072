package warc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Withdrawn says which records Dir.Remove removes: captures of some bytes, and what was written about them.
type Withdrawn struct {
	// Payloads are the SHA-256 of bodies, without their codings.
	Payloads map[[32]byte]bool
	// URLs had these bodies. Captures of them that are cut off may have a part of the bytes, and metadata records may
	// describe them, so both are removed, whatever they have.
	URLs map[string]bool
	// Decode removes the codings of a body that has some.
	Decode func(m *Message, body io.Reader) (io.Reader, error)
}

// removing is the ending of a copy of a file without some records, until it replaces the file.
const removing = ".removing"

// Path returns the name of the directory.
func (d *Dir) Path() string { return d.path }

// Prefix returns the prefix of the names of files.
func (d *Dir) Prefix() string { return d.opts.Prefix }

// DirPrefix returns the prefix that a Dir with this DirOptions.Prefix has.
func DirPrefix(prefix string) string { return DirOptions{Prefix: prefix}.withDefaults().Prefix }

// Remove rewrites the files of the directory whose names have the prefix, without some records: of captures of
// withdrawn bytes, their requests, and their descriptions. It completes the current file first. A file is replaced at
// once by its copy, so a crash leaves it whole. The error says so if another process writes to a file, or if a record
// that is to be removed shares a gzip member with others. It returns the number of records removed.
func (d *Dir) Remove(ctx context.Context, w *Withdrawn) (n int, err error) {
	d.mu.Lock()
	err = d.finish()
	d.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("warc: %s: %w", d.path, err)
	}
	pattern := filepath.Join(escapeGlob(d.path), escapeGlob(d.opts.Prefix)+"-*.warc.gz")
	left, err := filepath.Glob(pattern + removing)
	if err != nil {
		return 0, fmt.Errorf("warc: %w", err)
	}
	for _, name := range left { // of a process that was killed
		if err := os.Remove(name); err != nil {
			return 0, fmt.Errorf("warc: %w", err)
		}
	}
	busy, err := filepath.Glob(pattern + opened)
	if err != nil {
		return 0, fmt.Errorf("warc: %w", err)
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return 0, fmt.Errorf("warc: %w", err)
	}
	var problems []error
	for _, name := range files {
		removed, err := d.removeFrom(ctx, name, w)
		n += removed
		if err != nil {
			problems = append(problems, fmt.Errorf("warc: %s: %w", name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	for _, name := range busy {
		if err := d.complete(strings.TrimSuffix(name, opened)); err != nil {
			problems = append(problems, fmt.Errorf("warc: complete %s: %w", name, err))
			continue
		}
		if d.writes(name) {
			continue // begun after finish, so that its records are checked before they are written
		}
		if _, err := os.Stat(name); err == nil {
			problems = append(problems, fmt.Errorf("warc: another process writes to %s", name))
			continue
		}
		removed, err := d.removeFrom(ctx, strings.TrimSuffix(name, opened), w)
		n += removed
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it had no capture
			problems = append(problems, fmt.Errorf("warc: %s: %w", name, err))
		}
	}
	return n, errors.Join(problems...)
}

// writes reports whether an .open file is the current one.
func (d *Dir) writes(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file != nil && d.name+opened == name
}

func (d *Dir) removeFrom(ctx context.Context, name string, w *Withdrawn) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	keep, n, err := w.without(ctx, f, info.Size())
	if err != nil || n == 0 {
		return 0, err
	}
	out, err := os.OpenFile(name+removing, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	for _, s := range keep {
		if err == nil {
			_, err = io.Copy(out, &endingReader{ctx, io.NewSectionReader(f, s.from, s.to-s.from)})
		}
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(name+removing, name)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(name+removing))
	}
	return n, syncDir(filepath.Dir(name))
}

// endingReader ends with its context.
type endingReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// without returns what is to be kept of a file, and the number of records that are not. Parts that cannot be read are
// kept in files from which nothing else is removed, and otherwise removed.
func (w *Withdrawn) without(ctx context.Context, f io.ReaderAt, size int64) (keep []stretch, n int, err error) {
	r := NewReader(&endingReader{ctx, io.NewSectionReader(f, 0, size)}, Limits{})
	gone := map[string]bool{} // ids of removed captures
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return keep, n, nil
		}
		if _, ok := errors.AsType[*Fault](err); ok {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		has, err := w.has(rec, gone)
		if err != nil {
			return nil, 0, fmt.Errorf("record at %d: %w", rec.Offset, err)
		}
		if has {
			gone[strings.Clone(rec.ID())] = true
			n++
		}
		if err := r.Finish(); err != nil {
			continue
		}
		switch {
		case has && rec.Length == 0:
			return nil, 0, fmt.Errorf("the record at %d has withdrawn bytes and shares a gzip member with others", rec.Offset)
		case has || rec.Length == 0:
		case len(keep) > 0 && keep[len(keep)-1].to == rec.Offset:
			keep[len(keep)-1].to += rec.Length
		default:
			keep = append(keep, stretch{rec.Offset, rec.Offset + rec.Length})
		}
	}
}

// has reports whether a record is to be removed. It may read the block.
func (w *Withdrawn) has(rec *Record, gone map[string]bool) (bool, error) {
	url := rec.URI()
	switch rec.Type {
	case Warcinfo, Revisit: // no body
		return false, nil
	case Request:
		return gone[rec.Header.Get("WARC-Concurrent-To")], nil
	case Metadata:
		return w.URLs[url] || gone[rec.Header.Get("WARC-Concurrent-To")], nil
	}
	if w.URLs[url] && rec.Header.Get("WARC-Truncated") != "" {
		return true, nil
	}
	body := rec.Block
	if rec.Type == Response && isHTTP(rec.Header.Get("Content-Type")) {
		m, rest, err := ReadMessage(rec.Block)
		if err != nil {
			return false, nil // not HTTP, so no capture of a body; a fault of the block is reported by the reader
		}
		if body = rest; m.Chunked() || m.Header.Get("Content-Encoding") != "" {
			return w.codedHas(url, m, rest)
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return w.URLs[url], nil // a part may be among what cannot be read
	}
	return w.Payloads[[32]byte(sum.Sum(nil))], nil
}

// codedHas reports whether a body with codings is withdrawn. One that cannot be decoded counts as withdrawn if its URL
// had withdrawn bytes.
func (w *Withdrawn) codedHas(url string, m *Message, rest io.Reader) (bool, error) {
	raw := sha256.New()
	in := io.TeeReader(rest, raw)
	plain := sha256.New()
	body, err := w.Decode(m, in)
	if err == nil {
		_, err = io.Copy(plain, body)
	}
	if err != nil {
		return w.URLs[url], nil
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return w.URLs[url], nil
	}
	return w.Payloads[[32]byte(plain.Sum(nil))] || w.Payloads[[32]byte(raw.Sum(nil))], nil
}
