package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/wal"
)

// writerState is the content of writer.json: who writes the archive. Followers watch whether it changes.
type writerState struct {
	Epoch  uint64    `json:"epoch"`
	Holder Holder    `json:"holder"`
	URL    string    `json:"url,omitempty"`
	Lease  milli     `json:"lease"` // milliseconds after which followers may take over if it has not changed
	Beat   uint64    `json:"beat"`
	Nonce  string    `json:"nonce"`
	At     time.Time `json:"at"` // for people
	// Number is that of the last record in the vault, or of an earlier one.
	Number uint64 `json:"number,omitempty"`
	// Files are the names of the small files of which there are copies.
	Files []string `json:"files,omitempty"`
	// Released says that the process has ended and given its lease back.
	Released bool `json:"released,omitempty"`
	// Seen is the epoch of a candidate that has signed, and that this process has not become the former writer of: no
	// other one may have it.
	Seen uint64 `json:"seen,omitempty"`
	// Left is the backup that the directory writes instead of this one, or "none", if it has left this one.
	Left string `json:"left,omitempty"`
}

// Candidate is a process that wants to be the writer.
type Candidate struct {
	Holder Holder
	URL    string // where it serves; "" if it does not say
	Lease  time.Duration
	Force  bool // take the archive from another holder, or from a process that lives
	// Silent, if not "", is the sign (Lives) that the writer has not changed for so long that it is to be replaced. If
	// it has changed after all, because that writer lives or another candidate was faster, Take returns ErrInUse, also
	// with Force.
	Silent string
	// Instead, if not 0, is the epoch of the writer that is to be replaced (Standing.Epoch). If another one has become
	// the writer since, Take returns ErrInUse, also with Force.
	Instead uint64
	// Stands, if not nil, is asked just before the writer before is disturbed, and each time the candidate begins
	// again: its error ends that, and says that nobody wants this process to become the writer any more.
	Stands func() error
	// Begun says that the directory has written the vault: if that is not there, Take returns ErrNotThere, and begins
	// none.
	Begun bool
	Epoch uint64     // the last one in which the directory wrote the vault; 0 if that is not known
	was   string     // nonce of an earlier Writer of this process
	known *tailCache // has what the candidate has read of the tail; may be nil
	// Waiting, if not nil, is called when Take waits to see whether another process of the holder lives, and for how
	// long; and with 0 when it has seen that none does.
	Waiting func(time.Duration)
	// check decides whether the archive of the candidate has the record at the end of the history: then its log
	// continues there. If isNew is true, its history is a new one, and begins after at. It may be called several times.
	check func(ctx context.Context, h *History) (isNew bool, at wal.Position, err error)
}

// Writer is a process that may append to the log. Its methods may be called concurrently.
type Writer struct {
	b     bucket.Bucket
	me    Candidate
	epoch uint64
	isNew bool
	why   string // why the vault's history could not be continued; "" if it could, or for another reason
	began uint64 // number of the last record before the epoch
	place uint64 // of the fence in the tail
	nonce [16]byte

	known *tailCache

	renewing sync.Mutex // guards the fields below
	tag      string     // ETag of writer.json
	beat     uint64
	before   []byte // writer.json of the writer before; nil if there was none
	// Since when there is the signature of a candidate in writer.json that has no fence, of one or of several in turn;
	// zero if there is none.
	rivalAt   time.Time
	seen      uint64    // the greatest epoch of such a signature
	patientAt time.Time // when the writer had waited for candidates for a lease, in vain

	mu     sync.Mutex // guards the fields below
	seq    uint64     // place of the next object
	prev   [16]byte   // nonce of the process that put the object before it: this one, unless that was a fence in vain
	at     wal.Position
	last   milli  // time of the last record
	made   []span // objects of the tail that recent has not returned
	files  []string
	based  bool // the first state file of a new history is there
	yields bool // nothing is appended, for a candidate (contest)
	fenced error
}

// Take makes a process the writer. It begins a vault if there is none and the bucket is empty. The error is ErrNotOwner
// if another holder is the writer, and ErrUnknownWriter if nothing says who is, unless the candidate uses force. It is
// ErrFenced if another process takes the archive at the same time.
func Take(ctx context.Context, b bucket.Bucket, me Candidate) (*Writer, error) {
	w := &Writer{b: b, me: me, known: cmp.Or(me.known, new(tailCache))}
	err := w.take(ctx)
	for try := 1; errors.Is(err, errLate) && try < lateTries; try++ {
		err = w.take(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return w, nil
}

// lateTries is how often a candidate begins again that was stopped for so long that the writer went on.
const lateTries = 5

func (w *Writer) take(ctx context.Context) error {
	if _, err := rand.Read(w.nonce[:]); err != nil { // each attempt has its own: a late fence of an earlier one may be there
		return err
	}
	h, err := readAgain(ctx, w.b, w.known)
	if errors.Is(err, ErrNoVault) {
		if w.me.Begun {
			return notThere()
		}
		if err = begin(ctx, w.b, false); err == nil {
			h, err = readAgain(ctx, w.b, w.known)
		}
	}
	if err != nil {
		return err
	}
	if err := w.mayTake(h); err != nil {
		return err
	}
	if _, err := w.decide(ctx, h); err != nil { // before the present writer is disturbed
		return err
	}
	if !w.me.Force {
		if err := w.awaitSilence(ctx, h); err != nil {
			return err
		}
		if h, err = readAgain(ctx, w.b, w.known); err != nil {
			return err
		}
	}
	if h.nameless {
		if err := begin(ctx, w.b, true); err != nil {
			return err
		}
	}
	w.epoch = max(h.writer.Epoch, h.signed, w.me.Epoch) + 1
	for _, f := range slices.Concat(h.fences, h.late) {
		w.epoch = max(w.epoch, f.Epoch+1)
	}
	w.tag, w.before = h.writerTag, h.writerRaw
	if err := w.stands(); err != nil {
		return err
	}
	if err := w.signFirst(ctx); err != nil {
		return err
	}
	return w.fence(ctx)
}

// signFirst replaces the writer.json of the writer before. A candidate with Force does not give up because that one
// lives and has renewed it since it was read: reading a long tail may take longer than the pause between two renewals.
func (w *Writer) signFirst(ctx context.Context) error {
	const tries = 20
	for try := 1; ; try++ {
		err := w.renew(ctx)
		if !errors.Is(err, ErrFenced) || !w.me.Force || try == tries {
			return err
		}
		raw, info, err := get(ctx, w.b, writerKey, maxSmall)
		if err != nil {
			return err
		}
		var before writerState
		if err := unsealJSON(raw, &before); err != nil {
			return fmt.Errorf("%s: %w", writerKey, err)
		}
		if w.me.Silent != "" {
			return heardOf(before)
		}
		if before.Epoch >= w.epoch { // another candidate
			return w.fencedBy(before)
		}
		w.mu.Lock()
		w.fenced = nil
		w.mu.Unlock()
		w.tag, w.before = info.ETag, raw
	}
}

func at(url string) string {
	if url == "" {
		return ""
	}
	return " at " + url
}

// errOccupied is the error of a bucket that is no vault and not empty.
var errOccupied = errors.New("the bucket has other objects below this prefix; use an empty prefix")

// begin makes an empty bucket a vault. If again is true, it is one that has lost its description.
func begin(ctx context.Context, b bucket.Bucket, again bool) error {
	if empty, err := isEmpty(ctx, b); err != nil {
		return err
	} else if !empty && !again {
		return errOccupied
	}
	text, err := sealJSON(description{Format: format, Created: time.Now().UTC().Truncate(time.Second), ID: rand.Text()})
	if err != nil {
		return err
	}
	err = b.Put(ctx, archiveKey, int64(len(text)), bytes.NewReader(text), bucket.PutOptions{IfAbsent: true})
	if errors.Is(err, bucket.ErrExists) { // begun at the same time by another process
		return nil
	}
	return err
}

// Epoch returns the number of the writer's epoch.
func (w *Writer) Epoch() uint64 { return w.epoch }

// IsNew reports whether the epoch began a new history, which needs a state file.
func (w *Writer) IsNew() bool { return w.isNew }

// IsWhole reports whether the newest history can be restored, if it has a state file (History.hasBegun).
func (w *Writer) IsWhole() bool { return !w.isNew || w.At().Number >= w.began }

// At returns the position after the last record in the vault.
func (w *Writer) At() wal.Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// Fenced returns ErrFenced once another process is the writer.
func (w *Writer) Fenced() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fenced
}

func (w *Writer) setFenced(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fenced == nil {
		w.fenced = err
	}
	return w.fenced
}

// beginAt sets where the log of a new history begins: after the record of its first state file.
func (w *Writer) beginAt(at wal.Position, when milli) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.last, w.based = at, max(w.last, when), true
}

// setFiles sets which small files have copies, for the next renewal.
func (w *Writer) setFiles(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = names
}

// append adds records, which must follow the last one, and returns how many are in the vault: all of them if the error
// is nil. After an error it is called with the same records again, and perhaps more. It must not be called
// concurrently.
func (w *Writer) append(ctx context.Context, list []entry) (n int, err error) {
	for n < len(list) && err == nil {
		var added int
		added, err = w.appendOnce(ctx, list[n:])
		n += added
	}
	return n, err
}

func (w *Writer) appendOnce(ctx context.Context, list []entry) (n int, err error) {
	w.mu.Lock()
	at, seq, last, fenced, yields := w.at, w.seq, w.last, w.fenced, w.yields
	w.mu.Unlock()
	if fenced != nil {
		return 0, fenced
	}
	if yields {
		return 0, errContested
	}
	if list[0].Number != at.Number+1 {
		return 0, fmt.Errorf("append record %d after record %d", list[0].Number, at.Number)
	}
	for i := range list { // the clock may have been set back
		last = max(last, list[i].at)
		list[i].at = last
	}
	o := &batch{epoch: w.epoch, nonce: w.nonce, log: at.Log, before: at.Sum, entries: list}
	raw := o.encode()
	err = w.put(ctx, seq, raw)
	if errors.Is(err, bucket.ErrExists) {
		return w.occupied(ctx, seq, list)
	}
	if err != nil {
		return 0, err
	}
	w.advance(o, len(raw))
	return len(list), nil
}

func (w *Writer) advance(o *batch, size int) {
	end := o.entries[len(o.entries)-1]
	w.mu.Lock()
	defer w.mu.Unlock()
	s := o.span(0)
	s.key, s.size = tailKey(w.seq), int64(size)
	w.made = append(w.made, s)
	w.seq++
	w.prev = w.nonce
	w.at.Number, w.at.Sum, w.last = end.Number, end.Sum, end.at
}

// recent returns the objects of the tail that were made since the last call.
func (w *Writer) recent() []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.made
	w.made = nil
	return list
}

// lastTime returns the time of the last record.
func (w *Writer) lastTime() milli {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// occupied finds out what is in the place of the next object: an own one, whose answer was lost, or the fence of
// another writer.
func (w *Writer) occupied(ctx context.Context, seq uint64, list []entry) (n int, err error) {
	o, err := getObject(ctx, w.b, tailKey(seq))
	if err != nil {
		return 0, err
	}
	switch {
	case o.batch != nil && o.nonce == w.nonce:
		n := len(o.batch.entries)
		if n > len(list) || o.batch.entries[0].Number != list[0].Number || o.batch.entries[n-1].Sum != list[n-1].Sum {
			return 0, fmt.Errorf("%w: %s has other records", ErrBroken, tailKey(seq))
		}
		if err := w.hasBefore(ctx, seq); err != nil {
			return 0, err
		}
		w.advance(o.batch, len(o.batch.encode()))
		return n, nil
	case o.fence != nil && o.fence.Epoch < w.epoch: // of a process that lost the race to become the writer
		w.mu.Lock()
		w.seq, w.prev = w.seq+1, o.nonce
		w.mu.Unlock()
		return 0, nil
	case o.batch != nil: // the writer after this one would have put a fence here
		if h, err := readAgain(ctx, w.b, w.known); err != nil {
			return 0, err
		} else if f, _ := h.newest(); f.nonce == w.nonce {
			return 0, moveAside(ctx, w.b, tailKey(seq))
		}
	}
	var other writerState
	if raw, _, err := get(ctx, w.b, writerKey, maxSmall); err != nil || json.Unmarshal(raw, &other) != nil || other.Nonce == w.id() {
		other = writerState{} // its address is only for people
	}
	return 0, w.setFenced(w.fencedBy(other))
}
