package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/bucket"
)

// Who says which directory writes a vault, as far as the one that asks can know. Whoever decides something by it does
// so in a switch with all cases: what is not known is never taken for ThisOne, nor for AnotherOne.
type Who int

const (
	CannotAsk   Who = iota // the object store is away or refuses, or what is there cannot be read
	NoVault                // there is no vault: none was begun, or it was removed, or its file system is not mounted
	Nobody                 // no directory has written it yet
	NobodyKnows            // one has, and nothing says any more which
	ThisOne                // the directory that asks
	AnotherOne             // another directory
)

func (w Who) String() string {
	return [...]string{"cannot be asked", "no backup", "nobody", "nobody knows", "this directory", "another directory"}[w]
}

// Standing is what a vault says about its writer.
type Standing struct {
	Who   Who
	Epoch uint64 // of the process that wrote last, or is the writer; it names that process
	URL   string // of ThisOne or AnotherOne, if it has told it
	At    time.Time
	Left  string // what ThisOne or AnotherOne writes instead of this vault, since it left it; "" if it has not
	Err   error  // of CannotAsk, NoVault and NobodyKnows
}

// Ask asks a vault which directory writes it, or wrote it last, for a holder, which has written it itself in an epoch,
// the last one; 0 if it is not known. A vault that another one writes, and that does not know of that epoch, is an
// older copy that came back, or was begun anew: NobodyKnows. Usually Ask reads two small objects and lists the tail.
func Ask(ctx context.Context, b bucket.Bucket, holder Holder, epoch uint64) Standing {
	s, err := lastWriterOf(ctx, b)
	at := Standing{Epoch: s.Epoch, URL: s.URL, At: s.At, Left: s.Left}
	switch {
	case err == nil:
		at.Who = s.who(holder)
		if at.Who != AnotherOne || epoch == 0 {
			return at
		}
		h, failed := read(ctx, b)
		if failed == nil && !h.hasForgotten(holder, epoch) {
			return at
		}
		if at.Who, err = CannotAsk, failed; failed == nil {
			at.Who, err = NobodyKnows, forgotten(epoch, s.Epoch)
		}
	case errors.Is(err, ErrUnknownWriter):
		at.Who = NobodyKnows
	case errors.Is(err, ErrNoVault):
		at.Who = NoVault
	}
	at.Err = fmt.Errorf("backup: %w", err)
	return at
}

// who says who wrote last, of a writer that is known, or of none.
func (s writerState) who(holder Holder) Who {
	switch s.Holder {
	case "":
		return Nobody
	case holder:
		return ThisOne
	}
	return AnotherOne
}

// hasForgotten reports whether a vault lacks the epoch in which a holder has written it, although it has earlier ones,
// or the same of another holder. Of epochs before all that it has, nobody can tell.
func (h *History) hasForgotten(holder Holder, epoch uint64) (is bool) {
	if epoch == 0 {
		return false
	}
	for _, f := range h.fences {
		if f.Epoch == epoch && f.Holder == holder {
			return false
		}
		is = is || f.Epoch <= epoch
	}
	return is
}

func forgotten(epoch, is uint64) error {
	return fmt.Errorf("it is older than what this directory wrote (in epoch %d; it is at %d), or another directory has begun it anew: %w",
		epoch, is, ErrForgotten)
}

// who says who wrote last.
func (h *History) who(holder Holder) Who {
	if h.unknown {
		return NobodyKnows
	}
	return h.writer.who(holder)
}

// mayTake decides whether the candidate may replace whoever the vault names. It is asked before that one is disturbed:
//
//	                    Force                       otherwise
//	Nobody, ThisOne     yes                         yes
//	AnotherOne          yes                         ErrNotOwner
//	AnotherOne, and
//	hasForgotten        yes                         ErrUnknownWriter, but a writer that runs goes on if nobody has
//	    begun since
//	NobodyKnows         yes, unless it is Silent    ErrUnknownWriter
//
// With Silent or Instead, only the writer that they name is replaced, and a Silent one not if it has left the vault.
func (w *Writer) mayTake(h *History) error {
	other := h.writer
	switch h.who(w.me.Holder) {
	case Nobody, ThisOne:
	case AnotherOne:
		switch {
		case w.me.Force:
		case h.hasForgotten(w.me.Holder, w.me.Epoch):
			if w.me.was == "" || other.Epoch >= w.me.Epoch {
				return forgotten(w.me.Epoch, other.Epoch)
			}
		default:
			return fmt.Errorf(
				"%w, which wrote to it last on %s%s: if that one is to go on, let this one follow it (--follow); if this one is, start "+
					"it with --promote", ErrNotOwner, other.At.UTC().Format(time.RFC3339), at(other.URL))
		}
	default: // NobodyKnows
		if !w.me.Force || w.me.Silent != "" {
			return ErrUnknownWriter
		}
	}
	switch {
	case w.me.Silent != "" && other.Left != "":
		return leftFor(other)
	case w.me.Silent != "" && h.sign != w.me.Silent:
		return heardOf(other)
	case w.me.Instead > 0 && other.Epoch != w.me.Instead:
		return fmt.Errorf(
			"%w: epoch %d%s is the writer now, and the order was to replace epoch %d: give it again if this one is to be replaced, too",
			ErrInUse, other.Epoch, at(other.URL), w.me.Instead)
	}
	return nil
}

// ErrLeft means that the writer of a vault has left it for another backup, or for none. Its silence there says nothing.
var ErrLeft = errors.New("the writer has left this backup")

func leftFor(s writerState) error {
	return fmt.Errorf("%w on %s and writes another one or none (%s): give this server the same settings", ErrLeft,
		s.At.UTC().Format(time.RFC3339), s.Left)
}

// Leave notes in a vault that its writer, the directory of a holder in which no process writes it any more, writes
// another backup from now on, or none: a follower that watches the vault does not take its silence for its end. The
// error is ErrNotOwner if another directory is the writer, and ErrUnknownWriter if nobody knows.
func Leave(ctx context.Context, b bucket.Bucket, holder Holder, instead string) error {
	const tries = 5
	for try := 1; ; try++ {
		err := leave(ctx, b, holder, instead)
		if !errors.Is(err, bucket.ErrExists) && !errors.Is(err, bucket.ErrChanged) || try == tries {
			if err != nil {
				err = fmt.Errorf("backup: leave it: %w", err)
			}
			return err
		}
	}
}

func leave(ctx context.Context, b bucket.Bucket, holder Holder, instead string) error {
	h, err := read(ctx, b)
	if errors.Is(err, ErrNoVault) {
		return nil // there is nobody to be told
	}
	if err != nil {
		return err
	}
	switch h.who(holder) {
	case ThisOne:
	case Nobody:
		return nil
	case AnotherOne:
		return ErrNotOwner
	default: // NobodyKnows
		return ErrUnknownWriter
	}
	s := h.writer
	if s.Left == instead {
		return nil
	}
	s.Left, s.Released, s.At, s.Beat = instead, true, time.Now().UTC().Truncate(time.Second), s.Beat+1
	text, err := sealJSON(s)
	if err != nil {
		return err
	}
	return putWriter(ctx, b, text, h.writerTag)
}

// putWriter replaces the writer.json with an ETag; "" if there is to be none.
func putWriter(ctx context.Context, b bucket.Bucket, text []byte, tag string) error {
	o := bucket.PutOptions{IfMatch: tag}
	if tag == "" {
		o = bucket.PutOptions{IfAbsent: true}
	}
	return b.Put(ctx, writerKey, int64(len(text)), bytes.NewReader(text), o)
}
