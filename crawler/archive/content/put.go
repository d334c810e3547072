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

// PutOptions are the options of a Put or Place. The zero value is valid.
type PutOptions struct {
	// Previous is the SHA-256 of the file that was at the same address before, zero if there is none. Put looks for
	// common parts in it. It need not be stored.
	Previous Digest
	// Known are the digests of the bytes, if the caller has computed them. If such a file is stored, nothing is read;
	// otherwise the SHA-256 must match the bytes (ErrDigest) and the MD5 is not checked.
	Known *Digests
	// Label is stored with the file in its pack and returned by Salvage, to tell where the file is from when only packs
	// are left. By convention it is JSON: {"url", "time", "type", "name"}. A label longer than 16 KiB is left out.
	Label []byte
	// Written is called, if not nil, when all that remains is to wait for the disk and the database; by then none of
	// the file's bytes are in memory. Put and Place may return without calling it.
	Written func()
}

// Put stores a file and returns when it is durable. The same bytes are stored once and may be put again at any time. A
// reader that can seek (an *os.File) is read from its current offset; any other is copied first, since Put reads twice.
// On an error nothing is stored. The error is ErrDiskFull if there is no room.
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

// find is findLocked for a caller without the file's lock.
func (s *Store) find(ctx context.Context, sha Digest) (Ref, bool, error) {
	unlock, err := s.files.lock(ctx, sha)
	if err != nil {
		return Ref{}, false, err
	}
	defer unlock()
	return s.findLocked(sha)
}

// findLocked returns the Ref of a file and, if it is stored, makes GC spare it. The caller holds the file's lock.
func (s *Store) findLocked(sha Digest) (Ref, bool, error) {
	ref, ok, err := s.Stat(sha)
	if ok && err == nil {
		s.spareFromGC(sha)
	}
	return ref, ok, err
}

// spareFromGC makes GC leave a file alone for at least an hour.
func (s *Store) spareFromGC(sha Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.add(sha, time.Now())
}

func newPut(s *Store, src *source, d digests, label []byte) *put {
	return &put{s: s, src: src, new: newView(src.r, src.size, src.data), label: label, records: make(packDeltas),
		file: fileRecord{sha: d.sha, md5: d.md5, crc: d.crc, size: src.size}}
}

// findBase locks the previous file's family, so that nothing else cuts its segments, and opens the file. If the file is
// missing, damaged, or in a bucket that is away, there is no base.
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
	if cannotRead(err) || errors.Is(err, ErrNotFound) {
		p.s.log.Warn("the previous version cannot be used", "previous", previous.String(), "err", err)
		return leave, nil
	}
	return leave, err
}

func (p *put) head(sha Digest) (f fileRecord, found bool, err error) {
	snap := p.s.db.Snapshot()
	defer snap.Close()
	return readFile(snap, sha)
}

// readBase returns the bytes of a previous file that fits into memory, nil for a bigger one.
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
