package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// Placed is a file whose bytes are on disk, and which is stored once the transaction of Write is committed: Place and
// Write are Put for a caller with its own transaction. Until Release, Puts of the same bytes, or of another version
// after the same previous file, wait, and Compact does not treat the bytes as waste.
type Placed struct {
	s     *Store
	ref   Ref    // of a file that was stored already
	put   *put   // nil for a file that was stored already
	page  []byte // the first page of runs
	leave []func()
}

// Place does what Put does, except for the transaction. The caller must call Release, whether it calls Write or not.
// Bytes that are placed and not written are waste in a pack.
func (s *Store) Place(ctx context.Context, r io.Reader, o PutOptions) (*Placed, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	if o.Known != nil {
		ref, ok, err := s.find(ctx, o.Known.SHA256)
		if err != nil {
			return nil, err
		}
		if ok {
			return &Placed{s: s, ref: ref}, nil
		}
	}
	if err := s.room(); err != nil {
		return nil, err
	}
	src, err := s.openSource(ctx, r)
	if err != nil {
		return nil, err
	}
	defer src.drop()
	d, err := src.digest(ctx, o.Known)
	if err != nil {
		return nil, err
	}
	unlock, err := s.files.lock(ctx, d.sha)
	if err != nil {
		return nil, err
	}
	p := &Placed{s: s, leave: []func(){unlock}}
	ref, ok, err := s.findLocked(d.sha)
	if ok && err == nil {
		p.Release()
		return &Placed{s: s, ref: ref}, nil
	}
	if err == nil {
		err = p.place(ctx, src, d, o)
	}
	if err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// place writes the bytes of a file that is not stored yet. The caller holds its lock.
func (p *Placed) place(ctx context.Context, src *source, d digests, o PutOptions) error {
	s := p.s
	p.put = newPut(s, src, d, o.Label)
	done, err := s.tail.enter()
	if err != nil {
		return err
	}
	p.leave = append(p.leave, done)
	if o.Previous != (Digest{}) && o.Previous != d.sha {
		leave, err := p.put.findBase(ctx, o.Previous)
		if err != nil {
			return err
		}
		p.leave = append(p.leave, leave)
	}
	err = p.put.write(ctx)
	if p.put.base != nil && cannotRead(err) { // do without it
		s.log.Warn("the previous version cannot be used", "previous", o.Previous.String(), "err", err)
		p.put = newPut(s, src, d, o.Label)
		err = p.put.write(ctx)
	}
	if err != nil {
		return err
	}
	p.put.new, p.put.old, src.r, src.data = nil, nil, nil, nil
	if o.Written != nil {
		o.Written()
	}
	return p.finish(ctx)
}

// finish makes durable what was written of a file, except for its records in the database.
func (p *Placed) finish(ctx context.Context) error {
	if err := p.s.tail.sync(p.put.written); err != nil {
		return err
	}
	pages := encodeRuns(p.put.file.runs)
	p.put.file.pages, p.page = len(pages)-1, pages[0]
	if err := p.put.commitAhead(ctx, pages); err != nil {
		return fmt.Errorf("content: put %s: %w", p.put.file.sha, err)
	}
	return nil
}

// cannotRead reports whether a previous file cannot be used: it is damaged, or in a bucket that is away.
func cannotRead(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, bucket.ErrUnavailable)
}

// Write adds the file's records to a transaction of the store's database; the file is stored once that is committed. If
// the transaction fails, Write may be called again in another one, before Release.
func (p *Placed) Write(tx *kv.Txn) (Ref, error) {
	if p.put == nil {
		return p.ref, nil
	}
	if err := p.put.commit(tx, p.page); err != nil {
		return Ref{}, err
	}
	tx.OnCommit(func() { p.s.spareFromGC(p.put.file.sha) })
	return p.put.file.ref(), nil
}

// Ref returns the digests and the size of the file, before Write returns all of its Ref.
func (p *Placed) Ref() Ref {
	if p.put == nil {
		return p.ref
	}
	return p.put.file.ref()
}

// Deflated opens the file's deflate stream, also before Write: the bytes that the file will have once it is stored. It
// must be closed before Release.
func (p *Placed) Deflated() (*Deflated, error) {
	if p.put == nil {
		return p.s.Deflated(p.ref.SHA256, Current)
	}
	l, err := p.put.layout()
	if err != nil {
		return nil, err
	}
	return &Deflated{s: p.s, layout: l, free: p.s.Hold(), buf: aheadBuffers.Get().(*[]byte)}, nil
}

// layout returns the segments that the file will have. What commit will write of them is not in the database yet.
func (p *put) layout() (l *layout, err error) {
	err = p.s.db.View(func(tx *kv.Txn) error {
		known := slices.Clone(p.extents)
		for _, i := range p.order {
			leaf := &p.base.leaves[i]
			at := slices.IndexFunc(known, func(x *extent) bool { return x.num == leaf.extent })
			if at < 0 {
				x, err := readExtent(tx, leaf.extent) // a copy
				if err != nil {
					return err
				}
				at, known = len(known), append(known, x)
			}
			g := &known[at].segments[leaf.index]
			g.cut, g.parts = 1, p.cuts[i].parts.num
		}
		l, err = resolve(tx, p.file, Current, known...)
		return err
	})
	return l, err
}

// Release releases the locks of the file. It may be called twice, and on nil.
func (p *Placed) Release() {
	if p == nil {
		return
	}
	for i := len(p.leave) - 1; i >= 0; i-- {
		p.leave[i]()
	}
	p.leave = nil
}
