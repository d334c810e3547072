package vault

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
)

// decide finds out whether and where the candidate continues the log.
func (w *Writer) decide(ctx context.Context, h *History) (f fence, err error) {
	f = fence{Epoch: w.epoch, Holder: w.me.Holder, New: true}
	end, when, ok := h.end()
	isNew, at, err := w.me.check(ctx, h)
	if err != nil {
		return f, err
	}
	w.why = h.unfit()
	f.New = isNew || !ok || w.why != ""
	if !f.New {
		at = end
	}
	f.Log, f.Number, f.Sum = hex.EncodeToString(at.Log[:]), at.Number, at.Sum
	f.Last, f.At = when, max(when, milliOf(time.Now()))
	return f, nil
}

// unfit says why the newest history cannot be continued; "" if it can. What a damaged object had, and what a gap had,
// is not known.
func (h *History) unfit() string {
	switch {
	case len(h.fences) == 0:
		return "it has none yet"
	case len(h.damaged) > 0:
		return h.damaged[0].text
	case !h.isWhole():
		return "it has no complete copy of the archive"
	case !h.leads():
		return "records are missing"
	}
	return ""
}

// maxCollisions is how often the writer before may be faster than a candidate that puts its fence. Then the candidate
// signs again, so that the writer waits for it.
const maxCollisions = 20

// fence puts the object that begins the epoch into the place where the writer before would put its next one. If it
// cannot, it gives the archive back to that writer.
func (w *Writer) fence(ctx context.Context) error {
	for try := 1; ; try++ {
		if try > maxCollisions {
			return errLate
		}
		h, err := readAgain(ctx, w.b, w.known) // again each time: the writer before may have appended
		if err != nil {
			return err
		}
		before, is := h.newest()
		if is && before.Epoch >= w.epoch {
			return ErrFenced
		}
		f, err := w.decide(ctx, h)
		if err != nil {
			return errors.Join(err, w.giveBack(ctx, h))
		}
		// The writer before has waited for a lease, and signed again. It waits once more only for a signature.
		if s := h.signer; w.me.Force && w.me.Silent == "" && s.Nonce != w.id() && s.Epoch < w.epoch {
			if err := w.stands(); err != nil {
				return err
			}
			w.tag, w.before = h.writerTag, h.writerRaw
			if err := w.signFirst(ctx); err != nil {
				return err
			}
			continue // with what it has put meanwhile
		}
		if is {
			f.Prev = before.id()
		}
		if err := w.stands(); err != nil {
			return errors.Join(err, w.giveBack(ctx, h))
		}
		text, err := f.encode(w.nonce)
		if err != nil {
			return err
		}
		err = w.b.Put(ctx, tailKey(h.next), int64(len(text)), bytes.NewReader(text), bucket.PutOptions{IfAbsent: true})
		if errors.Is(err, bucket.ErrExists) {
			if o, err := getObject(ctx, w.b, tailKey(h.next)); err != nil || o.nonce != w.nonce {
				continue
			}
			err = nil // it is this writer's own, of an attempt whose answer was lost
		}
		if err != nil {
			return errors.Join(err, w.giveBack(ctx, h))
		}
		if err := w.confirm(ctx, h.next); err != nil {
			return err
		}
		w.place, w.seq, w.prev, w.at, w.last, w.isNew, w.began = h.next, h.next+1, w.nonce, f.position(), f.Last, f.New, f.Number
		return nil
	}
}

// renew writes writer.json, from which followers see that the writer lives. The error is ErrFenced if another process
// is the writer.
func (w *Writer) renew(ctx context.Context) error {
	err := w.sign(ctx, false)
	if errors.Is(err, errSignAgain) {
		err = w.sign(ctx, false)
	}
	return err
}

// release gives the lease back when the process ends, so that the next one of the holder begins at once.
func (w *Writer) release(ctx context.Context) error { return w.sign(ctx, true) }

func (w *Writer) sign(ctx context.Context, released bool) error {
	w.renewing.Lock()
	defer w.renewing.Unlock()
	w.beat++
	state := writerState{Epoch: w.epoch, Holder: w.me.Holder, URL: w.me.URL, Lease: milli(w.me.Lease.Milliseconds()), Beat: w.beat,
		Nonce: w.id(), At: time.Now().UTC().Truncate(time.Second), Released: released, Seen: w.seen}
	w.mu.Lock()
	if w.seq > 0 && (!w.isNew || w.based) {
		state.Number = w.at.Number
	}
	state.Files = w.files
	w.mu.Unlock()
	text, err := sealJSON(state)
	if err != nil {
		return err
	}
	err = putWriter(ctx, w.b, text, w.tag)
	if err != nil && !errors.Is(err, bucket.ErrExists) && !errors.Is(err, bucket.ErrChanged) && !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	raw, info, err := get(ctx, w.b, writerKey, maxSmall) // also after success: the new ETag is that of this text only
	if errors.Is(err, bucket.ErrNotFound) {
		return w.signAgain(ctx, "")
	}
	if err != nil {
		return err
	}
	var found writerState
	if err := unsealJSON(raw, &found); errors.Is(err, ErrBroken) {
		return w.signAgain(ctx, info.ETag)
	} else if err != nil {
		return fmt.Errorf("%s: %w", writerKey, err)
	}
	if found.Nonce != state.Nonce {
		switch {
		case !w.hasFence():
			return w.setFenced(w.fencedBy(found))
		case found.Epoch < w.epoch: // an older copy of it came back
			return w.signAgain(ctx, info.ETag)
		}
		return w.contest(ctx, found, info.ETag)
	}
	w.tag, w.rivalAt = info.ETag, time.Time{}
	w.setYields(false)
	return nil
}

// setYields sets whether the writer appends nothing, for a candidate that has signed.
func (w *Writer) setYields(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.yields = is
}

// contest finds out whether a candidate that has signed writer.json is the writer. Only a fence makes it one: it may
// give up, or have ended on its way. It cannot put its fence while this writer puts objects faster than it reads the
// tail, so this one appends nothing meanwhile. If there are signatures for a lease, of one candidate or of several in
// turn, this writer signs again, and goes on for at least as long before it waits for another one. The caller holds
// renewing.
func (w *Writer) contest(ctx context.Context, found writerState, tag string) error {
	h, err := readAgain(ctx, w.b, w.known)
	if err != nil {
		return err
	}
	if f, ok := h.newest(); ok && f.Epoch > w.epoch {
		return w.setFenced(w.fencedBy(found))
	}
	w.seen = max(w.seen, found.Epoch)
	if now := time.Now(); now.After(w.patientAt.Add(w.me.Lease)) {
		if w.rivalAt.IsZero() {
			w.rivalAt = now
		}
		if now.Sub(w.rivalAt) < w.me.Lease {
			w.setYields(true)
			return fmt.Errorf("%w: epoch %d%s is about to replace it", errContested, found.Epoch, at(found.URL))
		}
		w.rivalAt, w.patientAt = time.Time{}, now
	}
	w.setYields(false)
	return w.signAgain(ctx, tag)
}

// errContested is the error of a renewal, and of an append, while another process has signed, and is not the writer
// yet.
var errContested = errors.New("the writer waits for one that may replace it")

// giveBackFor bounds giveBack, also of a candidate that was told to end.
const giveBackFor = 5 * time.Second

// stands asks Candidate.Stands.
func (w *Writer) stands() error {
	if w.me.Stands == nil {
		return nil
	}
	return w.me.Stands()
}

// giveBack restores the writer.json that this candidate has replaced, since it cannot be the writer: the one before
// goes on.
func (w *Writer) giveBack(ctx context.Context, h *History) error {
	text := w.before
	if text == nil {
		last, ok := h.newest()
		if !ok {
			return nil // nobody was there
		}
		var err error
		if text, err = sealJSON(writerState{Epoch: last.Epoch, Holder: last.Holder, At: last.At.time()}); err != nil {
			return err
		}
	}
	w.renewing.Lock()
	defer w.renewing.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackFor)
	defer cancel()
	if err := putWriter(ctx, w.b, text, w.tag); err != nil && !errors.Is(err, bucket.ErrChanged) && !errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("give the archive back to the writer before: %w", err)
	}
	return nil
}

// signAgain prepares the next attempt to sign, after writer.json was lost, damaged or replaced by an older copy: it
// replaces what has this ETag. Who writes is decided by fences, and a process that takes the archive, and has signed,
// is not replaced: its text is another. The caller holds renewing.
func (w *Writer) signAgain(ctx context.Context, tag string) error {
	if w.hasFence() { // else there may be nothing to sign for
		if err := w.isThere(ctx); err != nil {
			return err
		}
	}
	h, err := readAgain(ctx, w.b, w.known)
	if err != nil && !errors.Is(err, ErrNoVault) { // all but the tail is lost: the Keeper's next look at it says so
		return err
	}
	if err == nil {
		if f, ok := h.newest(); ok && f.Epoch > w.epoch {
			return w.setFenced(w.fencedBy(h.writer))
		}
	}
	w.tag = tag
	return fmt.Errorf("%w: %s is missing, damaged or an older one", errSignAgain, writerKey)
}

// hasFence reports whether the writer's fence is in the vault.
func (w *Writer) hasFence() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq > 0
}

// errSignAgain is the error of a renewal that is to be tried again at once.
var errSignAgain = errors.New("the lease was not renewed")

// fencedBy returns the error for a writer that another process has replaced. Both may have the address of the archive.
func (w *Writer) fencedBy(other writerState) error {
	if other.URL == "" || other.URL == w.me.URL {
		return ErrFenced
	}
	return &FencedError{URL: other.URL}
}

// FencedError is an ErrFenced that knows the address of the writer.
type FencedError struct{ URL string }

func (e *FencedError) Error() string { return ErrFenced.Error() + ": " + e.URL }

// Unwrap returns ErrFenced.
func (e *FencedError) Unwrap() error { return ErrFenced }

// Lives reads what changes in a vault as long as its writer lives, and the writer's address. A follower that sees no
// change for the length of the lease, by its own clock, may take over. The error is ErrLeft if the writer has left the
// vault.
func Lives(ctx context.Context, b bucket.Bucket) (sign, url string, lease time.Duration, err error) {
	sign, s, _, err := look(ctx, b)
	if err == nil && s.Left != "" {
		err = leftFor(s)
	}
	if err != nil {
		return "", "", 0, fmt.Errorf("backup: %w", err)
	}
	return sign, s.URL, time.Duration(s.Lease) * time.Millisecond, nil
}

// look reads writer.json, what in it changes as long as the writer lives, and its ETag.
func look(ctx context.Context, b bucket.Bucket) (sign string, s writerState, tag string, err error) {
	raw, info, err := get(ctx, b, writerKey, maxSmall)
	if err != nil {
		return "", s, "", err
	}
	if err := unsealJSON(raw, &s); err != nil {
		return "", s, "", fmt.Errorf("%s: %w", writerKey, err)
	}
	return signOf(info.ETag, s), s, info.ETag, nil
}

// signOf returns the sign of a writer that has written this state.
func signOf(tag string, s writerState) string {
	return strings.Join([]string{tag, s.Nonce, fmt.Sprint(s.Beat)}, " ")
}

// heardOf returns the error of a candidate for whose taking the writer was to be silent, and is not.
func heardOf(s writerState) error {
	return fmt.Errorf("%w: epoch %d%s has been heard of", ErrInUse, s.Epoch, at(s.URL))
}
