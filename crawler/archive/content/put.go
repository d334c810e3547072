package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Digests of a file.
type Digests = catalog.Digests

// PutOptions of one Put or Place. The zero value is good.
type PutOptions struct {
	// Previous is the SHA-256 of the file that was at the same address before, zero for none. It is where common parts
	// are looked for; a digest that is not stored is no error.
	Previous Digest
	// Known are the digests of the bytes, where the caller has worked them out. If such a file is stored, nothing is
	// read; else the SHA-256 is compared with the bytes (ErrDigest) and the MD5 is believed.
	Known *Digests
	// Label is kept beside the file in its pack and given back by Salvage: whatever tells a reader who has nothing but packs
	// where the file is from. JSON {"url", "time", "type", "name"} by convention. One longer than 16 KiB is left out.
	Label []byte
	// Written is called, if not nil, once nothing is left but to wait for the disk and the database; by then none of the
	// file's bytes are held. Put and Place may return without having called it.
	Written func()
}

// Put stores a file and returns when it is durable. The same bytes are stored once and may be put again at any time. A
// reader that can seek (an *os.File) is read where it stands, any other is copied first, so that it can be read twice.
// On an error nothing is stored; ErrDiskFull where there is no room.
func (s *Store) Put(ctx context.Context, r io.Reader, o PutOptions) (ref Ref, err error) {
	p, err := s.Place(ctx, r, o)
	if err != nil {
		return Ref{}, err
	}
	defer p.Release()
	if p.put == nil {
		return p.ref, nil
	}
	err = s.db.Update(ctx, func(tx *kv.Txn) (err error) {
		ref, err = p.Write(tx)
		return err
	})
	if err != nil {
		return Ref{}, fmt.Errorf("content: put %s: %w", p.put.file.sha, err)
	}
	return ref, nil
}

// had is known, while no GC takes the file away.
func (s *Store) had(ctx context.Context, sha Digest) (Ref, bool, error) {
	unlock, err := s.files.lock(ctx, sha)
	if err != nil {
		return Ref{}, false, err
	}
	defer unlock()
	return s.known(sha)
}

// known looks a file up and, if it is stored, has GC spare it. The caller has the file's lock.
func (s *Store) known(sha Digest) (Ref, bool, error) {
	ref, ok, err := s.Stat(sha)
	if ok && err == nil {
		s.spareFromGC(sha)
	}
	return ref, ok, err
}

// spareFromGC keeps GC from a file for at least an hour.
func (s *Store) spareFromGC(sha Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.add(sha, time.Now())
}

func newPut(s *Store, src *source, d digests, label []byte) *put {
	return &put{s: s, src: src, neu: newView(src.r, src.size, src.data), label: label, told: make(packDeltas),
		file: fileRecord{sha: d.sha, md5: d.md5, crc: d.crc, size: src.size}}
}

// findBase takes the previous file's family, so that nobody else cuts its segments, and opens it. A previous file that
// is missing or damaged is done without.
func (p *put) findBase(ctx context.Context, previous Digest) (leave func(), err error) {
	leave = func() {}
	f, found, err := p.head(previous)
	if err != nil || !found {
		return leave, err
	}
	unlock, err := p.s.family.lock(ctx, f.family)
	if err != nil {
		return leave, err
	}
	r, err := p.s.Open(previous)
	if err == nil {
		var data []byte
		if data, err = p.readBase(r); err == nil {
			p.base = r.layout
			p.old = newView(r, r.size, data)
			return func() { r.Close(); unlock() }, nil
		}
		r.Close()
	}
	unlock()
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
		p.s.log.Warn("the previous version cannot be built upon", "previous", previous.String(), "err", err)
		return leave, nil
	}
	return leave, err
}

func (p *put) head(sha Digest) (f fileRecord, found bool, err error) {
	snap := p.s.db.Snapshot()
	defer snap.Close()
	return readFile(snap, sha)
}

// readBase inflates a previous file that is small enough to be held in memory.
func (p *put) readBase(r *Reader) ([]byte, error) {
	if r.size > p.s.opts.inMemory {
		return nil, nil
	}
	data := make([]byte, r.size)
	_, err := io.ReadFull(io.NewSectionReader(r, 0, r.size), data)
	if r.size == 0 {
		err = nil
	}
	return data, err
}
