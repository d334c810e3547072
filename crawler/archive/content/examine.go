package content

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// span is a range of bytes of a pack that differ from what was written. from is -1 if the place is unknown.
type span struct {
	from, to int64
	why      string
}

// examined is the result of examining a pack.
type examined struct {
	name   string
	size   int64 // of the file
	spans  []span
	parity string // what is wrong with the parity file, "" if nothing is
	noHead bool   // the head of an open pack is damaged; its name is enough to write it again

	missing   bool   // the file does not exist
	rightName string // the correct name of a closed pack in which only the name is wrong
}

func (x *examined) sound() bool { return len(x.spans) == 0 && x.parity == "" }

// missingPack returns the result for a pack whose file does not exist.
func missingPack(name string) *examined {
	return &examined{name: name, missing: true, spans: []span{{-1, -1, "the pack is missing"}}}
}

// examine reads a whole pack and its parity. It compares a closed pack with the checksums in its parity or, without
// parity, with the hash in its name, and the committed part of an open pack with the checksums of its records. The
// error is errNoPack if the pack does not exist.
func (s *Store) examine(ctx context.Context, num uint64, slow *disk.Throttle) (x examined, err error) {
	h, err := s.packs.acquire(num)
	if err != nil {
		return x, err
	}
	defer s.packs.release(h)
	x.name = s.packs.nameOf(num)
	info, err := h.f.Stat()
	if err != nil {
		return x, err
	}
	x.size = info.Size()
	r := &slowReader{ctx: ctx, r: &tolerant{r: h.f}, slow: slow}
	if !isClosed(x.name) {
		return x, s.examineOpen(num, r, &x)
	}
	p, err := openParity(s.fs, filepath.Join(s.dir, parityName(x.name)))
	switch {
	case err == nil:
		defer p.Close()
		if p.r.failed != nil {
			return x, p.r.failed
		}
		_, hash, _ := parsePackName(x.name)
		if p.num == num && hex.EncodeToString(p.pack.whole[:])[:hashDigits] == hash {
			return x, examineBy(r, p, &x)
		}
		x.parity = "the parity is that of another pack"
	case errors.Is(err, fs.ErrNotExist):
		if s.parity.exists(x.name) {
			x.parity = "the parity is missing"
		}
	case errors.Is(err, bucket.ErrUnavailable):
		return x, err
	default:
		x.parity = err.Error()
	}
	return x, examineWhole(num, r, &x)
}

// examineBy compares a closed pack with its parity file.
func examineBy(r *slowReader, p *parityFile, x *examined) error {
	buf := make([]byte, walkBlock)
	for at := int64(0); at < p.pack.size; {
		b := buf[:min(walkBlock, p.pack.size-at)]
		n, err := readFull(r, b, at)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		for i := 0; i < len(b); i += parityBlock {
			block := b[i:min(i+parityBlock, len(b))]
			if i+len(block) > n {
				x.add(at+int64(i), at+int64(i+len(block)), "the pack is truncated")
			} else if blockSum(block) != p.pack.blocks[(at+int64(i))/parityBlock] {
				x.add(at+int64(i), at+int64(i+len(block)), "it differs from its checksum")
			}
		}
		at += int64(len(b))
	}
	if x.size > p.pack.size {
		x.add(p.pack.size, x.size, "the pack continues after its end")
	}
	n := p.damagedBlocks()
	if p.r.failed != nil {
		return p.r.failed
	}
	if n > 0 {
		x.parity = fmt.Sprintf("%d blocks of the parity differ from their checksums", n)
	} else if p.damaged {
		x.parity = "a head of the parity is damaged"
	}
	return nil
}

// add adds a span, or extends the last one if it ends where the new one begins.
func (x *examined) add(from, to int64, why string) {
	if n := len(x.spans); n > 0 && x.spans[n-1].to == from && x.spans[n-1].why == why {
		x.spans[n-1].to = to
		return
	}
	x.spans = append(x.spans, span{from, to, why})
}

// examineWhole compares a closed pack with the hash in its name, and searches for the damage if they differ.
func examineWhole(num uint64, r *slowReader, x *examined) error {
	sums, err := sumPack(r, x.size)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // an object that was truncated
	if err != nil && !short {
		return err
	}
	_, hash, _ := parsePackName(x.name)
	if !short && hex.EncodeToString(sums.whole[:])[:hashDigits] == hash {
		return nil
	}
	head := make([]byte, packHead)
	if _, err := readFull(r, head, 0); err != nil || headFormat(head, num) == 0 {
		x.add(0, packHead, "its head is damaged")
	}
	if err := walkSpans(r, x.size, x); err != nil {
		return err
	}
	switch {
	case len(x.spans) > 0:
	case short:
		x.spans = []span{{-1, -1, "the pack is truncated"}}
	default:
		x.spans = []span{{-1, -1, "the pack differs from the hash in its name"}}
		x.rightName = closedName(num, sums.whole)
	}
	return nil
}

// walkSpans adds what is between sound records.
func walkSpans(r io.ReaderAt, end int64, x *examined) error {
	bad := span{from: -1}
	w := &walker{r: r, end: end}
	err := w.walk(func(rec found) error {
		switch {
		case rec.wrong == "" && bad.from >= 0:
			x.add(bad.from, rec.offset, bad.why)
			bad.from = -1
		case rec.wrong != "" && bad.from < 0:
			bad = span{from: rec.offset, why: rec.wrong}
		}
		return nil
	})
	if bad.from >= 0 {
		x.add(bad.from, end, bad.why)
	}
	return err
}

// examineOpen reads an open pack up to its last commit.
func (s *Store) examineOpen(num uint64, r *slowReader, x *examined) error {
	rec, _, err := s.packRecord(num)
	if err != nil {
		return err
	}
	head := make([]byte, packHead)
	if _, err := readFull(r, head, 0); err == nil && headFormat(head, num) == 0 {
		x.add(0, packHead, "its head is damaged")
		x.noHead = true
	}
	return walkSpans(r, rec.end, x)
}

// noteAll records the damages of a pack.
func (s *Store) noteAll(x *examined) {
	for _, d := range s.damagesOf(x) {
		s.note(d)
	}
}

func (s *Store) damagesOf(x *examined) (list []disk.Damage) {
	for _, p := range x.spans {
		why := p.why
		if p.to > p.from {
			why = fmt.Sprintf("%s (%d bytes)", why, p.to-p.from)
		}
		list = append(list, disk.Damage{File: s.fileName(x.name), Offset: p.from, Why: why})
	}
	if x.parity != "" {
		list = append(list, disk.Damage{File: s.fileName(parityName(x.name)), Offset: -1, Why: x.parity})
	}
	return list
}

// listPacks returns the numbers of all packs that exist, the total size of the packs in the database, and in missing
// the packs that do not exist although something in them is needed.
func (s *Store) listPacks() (nums, missing []uint64, total int64, err error) {
	there := s.packs.numbers()
	err = s.db.View(func(tx *kv.Txn) error {
		return tx.Scan(refsSpace, []byte{keyPack}, nil, func(key, val []byte) (bool, error) {
			num, ok := keyNumber(key)
			p, err := decodePack(val)
			if !ok || err != nil {
				return false, recordError(errRecord)
			}
			total += p.end
			if _, ok := slices.BinarySearch(there, num); !ok && p.live+p.records > 0 {
				missing = append(missing, num)
			}
			return true, nil
		})
	})
	return there, missing, total, err
}

// slowReader reads at the speed of a throttle, until ctx ends.
type slowReader struct {
	ctx  context.Context
	r    io.ReaderAt
	slow *disk.Throttle
}

func (r *slowReader) ReadAt(b []byte, at int64) (int, error) {
	if err := r.slow.Wait(r.ctx, len(b)); err != nil {
		return 0, err
	}
	return r.r.ReadAt(b, at)
}
