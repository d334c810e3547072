package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/triplestore/bucket"
)

// A fence makes a writer only in the place behind the last object of the tail. The places before it do not stay taken:
// what is merged is deleted there. A candidate that was stopped between reading the tail and putting its fence may put
// it into such a gap, where the writer does not meet it. Such a late fence began no epoch. It is known from what lies
// around it, since the newest object of the tail is never deleted, and since each fence names the one before.

// placed is what the tail has, by places.
type placed struct {
	fences []fence             // in order
	last   map[[16]byte]uint64 // of each process with records: the place of its last ones
}

// note adds an object. Objects are noted in the order of their places.
func (p *placed) note(o tailObject) {
	if o.fence != nil {
		f := *o.fence
		f.seq = o.seq
		p.fences = append(p.fences, f)
		return
	}
	if p.last == nil {
		p.last = make(map[[16]byte]uint64)
	}
	p.last[o.nonce] = o.seq
}

// settle finds out which fences began epochs. Those did not that are
//   - between the fence of a process and its last records,
//   - between a fence and the one that it names as the one before,
//   - before a fence of the same epoch, or behind one of a later epoch.
//
// One that is followed by records of its process is none of these: a process puts records when it has confirmed its
// fence.
func (h *History) settle(p placed) {
	isLate := func(f fence) bool {
		if p.last[f.nonce] > f.seq {
			return false
		}
		between := func(from, to uint64) bool { return from < f.seq && f.seq < to }
		return slices.ContainsFunc(p.fences, func(of fence) bool {
			if between(of.seq, p.last[of.nonce]) {
				return true
			}
			i := slices.IndexFunc(p.fences, func(o fence) bool { return of.Prev != "" && of.Prev == o.id() })
			return i >= 0 && between(p.fences[i].seq, of.seq)
		})
	}
	for _, f := range p.fences {
		switch n := len(h.fences); {
		case isLate(f):
			h.late = append(h.late, f)
		case n == 0 || h.fences[n-1].Epoch < f.Epoch:
			h.fences = append(h.fences, f)
		case h.fences[n-1].Epoch == f.Epoch:
			h.late = append(h.late, h.fences[n-1])
			h.fences[n-1] = f
		}
	}
	if f, _ := h.newest(); p.last[f.nonce] > f.seq { // nothing that was merged since can say otherwise
		h.moved = false
	}
}

// id returns the nonce of the process that put a fence, as others name it.
func (f fence) id() string { return hex.EncodeToString(f.nonce[:]) }

// newest returns the fence that began the newest epoch; ok is false if there is none.
func (h *History) newest() (f fence, ok bool) {
	if n := len(h.fences); n > 0 {
		return h.fences[n-1], true
	}
	return f, false
}

// hasBegunBy reports whether a process has begun an epoch.
func (h *History) hasBegunBy(nonce [16]byte) bool {
	return slices.ContainsFunc(h.fences, func(f fence) bool { return f.nonce == nonce })
}

// errLate is the error of a candidate whose fence came too late, since the writer before went on meanwhile. It may
// begin again.
var errLate = errors.New("the writer went on while another process was about to replace it")

// confirm finds out whether the fence that a candidate has put in a place began its epoch. If not, it is removed. The
// error is ErrFenced if another process is the writer, and errLate if it is the one before.
func (w *Writer) confirm(ctx context.Context, seq uint64) error {
	last := seq
	for info, err := range w.b.List(ctx, tailDir, tailKey(seq)) {
		if err != nil {
			return err
		}
		if at, ok := parseTailKey(info.Key); ok {
			last = at
		}
	}
	if last == seq {
		return nil
	}
	h, err := readAgain(ctx, w.b, w.known)
	if err != nil {
		return err
	}
	switch f, _ := h.newest(); {
	case f.nonce == w.nonce:
		return nil
	case h.hasBegunBy(w.nonce):
		return w.fencedBy(h.writer)
	}
	if of, err := nonceOf(ctx, w.b, seq); err == nil && of == w.nonce {
		if err := w.b.Delete(ctx, tailKey(seq)); err != nil {
			return err
		}
	}
	return errLate
}

// nonceOf returns the nonce of the process that put the object in a place of the tail.
func nonceOf(ctx context.Context, b bucket.Bucket, seq uint64) (nonce [16]byte, err error) {
	r, _, err := b.Get(ctx, tailKey(seq), 0, objectHead)
	if err != nil {
		return nonce, err
	}
	var head [objectHead]byte
	_, err = io.ReadFull(r, head[:])
	if err = errors.Join(err, r.Close()); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil &&
		string(head[:len(objectMagic)]) != objectMagic {
		return nonce, fmt.Errorf("%w: %s has no beginning", ErrBroken, tailKey(seq))
	}
	copy(nonce[:], head[objectHead-len(nonce):])
	return nonce, err
}
