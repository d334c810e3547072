// Package unpack lists and opens the members of archives and compressed files: zip, tar, 7z, rar (reading), gzip,
// bzip2, xz, lzma, zstd, brotli, lz4 and compress (.Z), nested up to a depth.
//
// Walk passes every member to a function; Extract writes one member. Archives are hostile input: all output of decoders
// counts against limits on size, number and ratio, names are made harmless, and a decoder that panics ends its archive
// with an error. Links, devices and directories are not members. Encrypted members are listed but cannot be opened.
package unpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Errors that callers may distinguish.
var (
	ErrBomb      = errors.New("unpacks to more than the limits allow")
	ErrTooMany   = errors.New("more members than the limits allow")
	ErrEncrypted = errors.New("encrypted")
	ErrFormat    = errors.New("not an archive that can be read")
	ErrNotFound  = errors.New("no such member")
)

// Member is one file inside an archive.
type Member struct {
	Path     string    // slash-separated, relative, valid UTF-8, unique within the walk; "a.zip/b.csv" for a member of a member
	Size     int64     // as in the archive, -1 if it does not say
	Modified time.Time // zero if unknown
	Depth    int       // 0 for members of the file itself
	Packed   bool      // an archive or compressed file; its members follow

	// Open returns the bytes. It may be called once, during the call that received the member, and the reader must be
	// closed before that call returns.
	Open func() (io.ReadCloser, error)
}

// Limits are limits against hostile archives. Zero fields take the default.
type Limits struct {
	Name       string // the file's own name, from which the member of a compressed file gets its name
	MaxMembers int    // over all levels, default 10,000
	MaxMember  int64  // size of one member in bytes, default 2 GiB
	MaxTotal   int64  // output of all decoders in bytes, default 8 GiB
	MaxRatio   int64  // output per byte of the file, beyond 64 MiB; default 400
	MaxDepth   int    // levels of inner archives that are opened, default 2; negative = none
	TempDir    string // for inner archives while they are read; "" = the system's

	// Temp, if not nil, returns empty temporary files in the place of those in TempDir, and what takes each back.
	Temp func() (f *os.File, done func(), err error)
}

// withDefaults returns the limits with the defaults in place of zero fields.
func (l Limits) withDefaults() Limits {
	if l.MaxMembers == 0 {
		l.MaxMembers = 10_000
	}
	if l.MaxMember == 0 {
		l.MaxMember = 2 << 30
	}
	if l.MaxTotal == 0 {
		l.MaxTotal = 8 << 30
	}
	if l.MaxRatio == 0 {
		l.MaxRatio = 400
	}
	if l.MaxDepth == 0 {
		l.MaxDepth = 2
	}
	return l
}

// Known reports whether Walk reads files of a media type.
func Known(mediaType string) bool { return formatOf(mediaType) != none }

// Walk calls fn for each member of the file in r, in the order of the archive. The first bytes show the format; if they
// do not, mediaType does. An error of fn ends the walk and is returned. An inner archive that cannot be read does not
// end the walk: its members are missing.
func Walk(ctx context.Context, r io.ReaderAt, size int64, mediaType string, l Limits, fn func(Member) error) error {
	return walk(ctx, r, size, mediaType, l, "", fn)
}

// walk is Walk. If only is not "", it is the path of the one member of interest.
func walk(ctx context.Context, r io.ReaderAt, size int64, mediaType string, l Limits, only string, fn func(Member) error) error {
	l = l.withDefaults()
	w := &walker{ctx: ctx, limits: l, only: only, fn: fn, output: &output{ctx: ctx, input: size, limits: l}, names: map[string]bool{}}
	f := sniff(r, size)
	if f == none {
		f = formatOf(mediaType)
	}
	if f == none {
		return fmt.Errorf("unpack: %s: %w", l.Name, ErrFormat)
	}
	if err := w.archive(f, r, size, "", l.Name, 0); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}

// Extract writes the bytes of the member at path to dst. It opens only the inner archives that contain the member. If
// there is no such member, the error is ErrNotFound. On other errors dst may have received part of the bytes.
func Extract(ctx context.Context, r io.ReaderAt, size int64, mediaType, path string, l Limits, dst io.Writer) error {
	found := errors.New("found")
	err := walk(ctx, r, size, mediaType, l, path, func(m Member) error {
		if m.Path != path {
			return nil
		}
		body, err := m.Open()
		if err != nil {
			return err
		}
		_, err = io.Copy(dst, body)
		if err = errors.Join(err, body.Close()); err == nil {
			err = found
		}
		return err
	})
	switch {
	case errors.Is(err, found):
		return nil
	case err == nil:
		return fmt.Errorf("unpack: %s: %w", path, ErrNotFound)
	}
	return err
}

// walker is a walk through an archive and those inside it.
type walker struct {
	ctx    context.Context
	limits Limits
	only   string // path of the one member of interest, "" for all
	fn     func(Member) error
	output *output
	names  map[string]bool
	count  int
}

// stop is an error that ends the whole walk, not just its archive.
type stop struct{ err error }

func (s stop) Error() string { return s.err.Error() }
func (s stop) Unwrap() error { return s.err }

// archive walks one archive. prefix is the path of the archive within the file, with a slash, "" at the top.
func (w *walker) archive(f format, r io.ReaderAt, size int64, prefix, name string, depth int) (err error) {
	defer recovered(&err)
	switch f {
	case zipFile:
		return w.zip(r, size, prefix, depth)
	case sevenZip:
		return w.sevenzip(r, size, prefix, depth)
	case rarFile:
		return w.rar(r, size, prefix, depth)
	case tarFile:
		return w.tar(io.NewSectionReader(r, 0, size), prefix, depth)
	default:
		return w.compressed(f, r, size, prefix, name, depth)
	}
}

// recovered turns a decoder's panic into an error.
func recovered(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("%w: the decoder failed: %v", ErrFormat, x)
	}
}

// compressed walks a compressed file, which contains one file or a tar.
func (w *walker) compressed(f format, r io.ReaderAt, size int64, prefix, name string, depth int) error {
	open := func() (io.ReadCloser, string, time.Time, error) {
		return decompress(f, io.NewSectionReader(r, 0, size), w.output)
	}
	body, inner, modified, err := open()
	if err != nil {
		return err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		body.Close()
		return err
	}
	if isTar(head[:n]) {
		defer body.Close()
		return w.tar(io.MultiReader(bytes.NewReader(head[:n]), body), prefix, depth)
	}
	body.Close()
	if inner == "" {
		inner = strippedName(name)
	}
	return w.member(prefix, inner, Member{Size: -1, Modified: modified, Depth: depth, Open: func() (io.ReadCloser, error) {
		body, _, _, err := open()
		return body, err
	}})
}

// member passes a member to the caller, and walks it if it is an archive. raw is its name in the archive.
func (w *walker) member(prefix, raw string, m Member) error {
	if err := w.ctx.Err(); err != nil {
		return stop{err}
	}
	if w.count++; w.count > w.limits.MaxMembers {
		return stop{ErrTooMany}
	}
	m.Path = w.unique(prefix + cleanPath(raw))
	open := m.Open
	var spool *os.File
	done := func() {}
	defer func() { done() }()
	guarded := func() (rc io.ReadCloser, err error) {
		defer recovered(&err)
		rc, err = open()
		if err != nil {
			return nil, fmt.Errorf("unpack: open %s: %w", m.Path, err)
		}
		return &guard{r: rc, left: w.limits.MaxMember, path: m.Path, ctx: w.ctx}, nil
	}
	m.Open = guarded
	var inner format
	var innerSize int64
	if depth := w.limits.MaxDepth; m.Depth < depth && mayBePacked(m.Path) && w.leadsTo(m.Path) {
		var err error
		if spool, innerSize, done, err = w.spool(guarded); err != nil {
			if fatal(err) {
				return stop{err}
			}
			spool = nil
			m.Open = func() (io.ReadCloser, error) { return nil, err }
		} else {
			inner = sniff(spool, innerSize)
			m.Packed = inner != none
			m.Open = func() (io.ReadCloser, error) {
				return io.NopCloser(io.NewSectionReader(spool, 0, innerSize)), nil
			}
		}
	}
	if err := w.fn(m); err != nil {
		return stop{err}
	}
	if inner == none {
		return nil
	}
	err := w.archive(inner, spool, innerSize, m.Path+"/", m.Path, m.Depth+1)
	if err != nil && fatal(err) {
		return err
	}
	return nil
}

// leadsTo reports whether an inner archive has to be opened.
func (w *walker) leadsTo(path string) bool {
	return w.only == "" || strings.HasPrefix(w.only, path+"/")
}

// fatal reports whether an error in an inner archive ends the whole walk.
func fatal(err error) bool {
	var s stop
	return errors.As(err, &s) || errors.Is(err, ErrBomb) || errors.Is(err, ErrTooMany) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// spool copies a member to a temporary file and returns the file, its size, and what gives it back, which is never nil.
func (w *walker) spool(open func() (io.ReadCloser, error)) (f *os.File, n int64, done func(), err error) {
	body, err := open()
	if err != nil {
		return nil, 0, func() {}, err
	}
	defer body.Close()
	f, done, err = w.temp()
	if err != nil {
		return nil, 0, func() {}, stop{fmt.Errorf("unpack an inner archive: %w", err)}
	}
	n, err = io.Copy(f, body)
	return f, n, done, err
}

// temp returns an empty temporary file.
func (w *walker) temp() (f *os.File, done func(), err error) {
	if w.limits.Temp != nil {
		return w.limits.Temp()
	}
	if f, err = os.CreateTemp(w.limits.TempDir, "odarchive-unpack-*"); err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close(); os.Remove(f.Name()) }, nil
}

// unique returns a path that no earlier member has, in any case of letters.
func (w *walker) unique(path string) string {
	p := path
	for i := 2; w.names[strings.ToLower(p)]; i++ {
		p = fmt.Sprintf("%s~%d", path, i)
	}
	w.names[strings.ToLower(p)] = true
	return p
}
