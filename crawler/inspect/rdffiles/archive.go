package rdffiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"

	"odarchive/crawler/inspect/unpack"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

const (
	maxUnpacked = 1 << 42 // bytes of all members together
	maxIgnored  = 1000    // names of members that are passed to Options.Ignored
)

// batch is the number of statements that the walk through an archive passes to the reader at a time.
const batch = 512

// archive makes the members of an archive that are RDF the source, in their order. rest reads the whole archive again;
// it is used if in is not a file that can be read at random.
func (s *Source) archive(ctx context.Context, in, rest io.Reader, name string, o Options) error {
	file, ok := in.(*os.File)
	if ok {
		_, err := file.Seek(0, io.SeekStart)
		ok = err == nil
	}
	if !ok {
		var err error
		if file, err = s.spool(rest, o); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(func(yield func([]term.Quad, error) bool) {
		w := &archiveWalk{ctx: ctx, name: name, opts: o, yield: yield}
		if err := w.walk(file, info.Size()); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	})
	s.close = append(s.close, stop)
	var held []term.Quad
	s.read = func() (q term.Quad, err error) {
		for len(held) == 0 {
			var more bool
			if held, err, more = next(); err != nil || !more {
				if err == nil {
					err = io.EOF
				}
				return q, err
			}
		}
		q, held = held[0], held[1:]
		return q, nil
	}
	return nil
}

// errStopped ends the walk after the reader was closed.
var errStopped = errors.New("stopped")

// archiveWalk is a walk through the members of one archive.
type archiveWalk struct {
	ctx     context.Context
	name    string // of the archive, for errors
	opts    Options
	yield   func([]term.Quad, error) bool // passes statements to the reader; false means that it was closed
	read    int                           // members that are RDF
	ignored []string                      // names of other members
}

// walk reads all members.
func (w *archiveWalk) walk(file io.ReaderAt, size int64) error {
	// Archives inside the archive are ignored: unpack.Walk would not report members of theirs that it cannot read.
	limits := unpack.Limits{Name: w.name, MaxDepth: -1, MaxMembers: 1 << 20, MaxMember: maxUnpacked, MaxTotal: maxUnpacked,
		TempDir: w.opts.TempDir}
	if err := unpack.Walk(w.ctx, file, size, "", limits, w.member); err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	if w.read == 0 {
		return fmt.Errorf("%s: none of its members is RDF", w.name)
	}
	if len(w.ignored) > 0 && w.opts.Ignored != nil {
		w.opts.Ignored(w.ignored)
	}
	return nil
}

// member reads one member, if it is RDF.
func (w *archiveWalk) member(m unpack.Member) error {
	body, err := m.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	plain, err := rdfio.Decompress(body, m.Path)
	if err != nil {
		return err
	}
	defer plain.Close()
	text, head, err := peek(plain, sniffed)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	o := w.opts
	f := detect(m.Path, head)
	if f.IsZero() {
		f = o.Format
	}
	if f.IsZero() || f.Page && !o.Format.Page || isArchive(head) || isTar(head) || len(head) == 0 {
		w.ignore(m.Path)
		return nil
	}
	if o.Member != nil {
		o.Member(m.Path)
	}
	if o.Base != "" {
		o.Base += "/" + (&url.URL{Path: m.Path}).EscapedPath()
	}
	o.Format = f
	s := &Source{}
	defer s.Close()
	if err := s.document(w.ctx, text, head, w.name+": "+m.Path, o); err != nil {
		if errors.Is(err, errNoData) {
			w.ignore(m.Path)
			return nil
		}
		return err
	}
	w.read++
	return w.pass(s)
}

func (w *archiveWalk) ignore(path string) {
	if len(w.ignored) < maxIgnored {
		w.ignored = append(w.ignored, path)
	}
}

// pass passes the statements of a member to the reader.
func (w *archiveWalk) pass(s *Source) error {
	quads := make([]term.Quad, 0, batch)
	for {
		q, err := s.Read()
		if err == nil {
			quads = append(quads, q)
		}
		if len(quads) == batch || err != nil && len(quads) > 0 {
			if !w.yield(quads, nil) {
				return errStopped
			}
			quads = make([]term.Quad, 0, batch)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
