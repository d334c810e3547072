package transparency

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrForked means that the log does not continue a tree that was signed before. Signing it would be signing two
// histories.
var ErrForked = errors.New("the log does not continue what was signed before")

// ErrEmpty means that there is nothing to sign.
var ErrEmpty = errors.New("the transparency log is empty: it gets a leaf with each version")

// guardSuffix ends the name of the file beside a key that holds the last checkpoint which the key signed. It belongs to
// the key, not to the archive: an archive that is restored from an older backup would not know what it signed since.
const guardSuffix = ".signed"

// Signer signs the trees of one archive with the key of a file.
type Signer struct {
	DB    *kv.DB
	File  string           // of the key; it is read for each signature, so that it may change
	Clock func() time.Time // nil means the system's

	mu sync.Mutex // held while signing
}

// Sign signs the present tree, and returns its checkpoint. If it is signed already, with all keys of the file, Sign
// returns that checkpoint. Before the signature is stored anywhere else it is durable beside the key, and every later
// tree must contain this one: otherwise Sign returns ErrForked.
func (s *Signer) Sign(ctx context.Context) (c Checkpoint, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := ReadKey(s.File)
	if err != nil {
		return c, err
	}
	unlock, err := lock(s.File + guardSuffix + ".lock")
	if err != nil {
		return c, fmt.Errorf("sign the transparency log: %w", err)
	}
	defer unlock()
	now := time.Now
	if s.Clock != nil {
		now = s.Clock
	}
	var tree tlog.Tree
	var latest Checkpoint
	err = View(s.DB, func(t Txn) error {
		size, err := t.Size()
		if err != nil {
			return err
		}
		if size == 0 {
			return ErrEmpty
		}
		if err := t.continues(s.File + guardSuffix); err != nil {
			return err
		}
		if latest, _, err = t.Latest(); err != nil {
			return err
		}
		if latest.Size > 0 {
			if err := t.contains(latest.Note, "the archive's last checkpoint"); err != nil {
				return err
			}
		}
		tree, err = t.Tree(size)
		return err
	})
	if err != nil {
		return c, fmt.Errorf("sign the transparency log: %w", err)
	}
	body := formatBody(key.Origin, tree)
	if latest.Size == tree.N && key.hasSigned(latest.Note, body) {
		return latest, nil
	}
	signed, err := note.Sign(&note.Note{Text: body}, key.signers...)
	if err != nil {
		return c, fmt.Errorf("sign the transparency log: %w", err)
	}
	if err := disk.WriteFile(disk.OS{}, s.File+guardSuffix, signed, 0o600); err != nil {
		return c, fmt.Errorf("sign the transparency log: %w", err)
	}
	c = Checkpoint{Size: tree.N, Signed: now().UTC().Truncate(time.Millisecond), Note: signed}
	err = s.DB.Update(ctx, func(txn *kv.Txn) error {
		t := Txn{txn}
		if before, ok, err := t.checkpoint(signed); err != nil {
			return err
		} else if ok { // with other keys: what witnesses and authorities said of the tree stays
			n, err := note.Open(signed, note.VerifierList(key.verifiers()...))
			if err != nil {
				return err
			}
			c.Note, _ = withSignatures(before.Note, n.Sigs)
			c.TimeStamp = before.TimeStamp
		}
		return t.saveCheckpoint(c)
	})
	return c, err
}

// continues returns ErrForked if the tree does not contain that of the file beside the key.
func (t Txn) continues(guard string) error {
	last, err := disk.ReadFile(disk.OS{}, guard, maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.contains(last, "the last checkpoint that this key signed, in "+guard+",")
}

// contains returns ErrForked if the tree of a checkpoint is not a part of this one. what names the checkpoint.
func (t Txn) contains(checkpoint []byte, what string) error {
	_, before, err := ParseNote(checkpoint)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", what, err)
	}
	size, err := t.Size()
	if err != nil {
		return err
	}
	if before.N > size {
		return fmt.Errorf(
			"%w: %s is of %d versions, and the log has %d; an archive that was restored from an older backup begins a new log, with a "+
				"new key and another --origin", ErrForked, what, before.N, size)
	}
	now, err := t.Tree(before.N)
	if err == nil && now.Hash != before.Hash {
		err = fmt.Errorf("%w: its first %d versions are not those of %s", ErrForked, before.N, what)
	}
	return err
}

// hasSigned reports whether a note has a body and the signatures of all keys.
func (k *Key) hasSigned(signed []byte, body string) bool {
	verifiers := k.verifiers()
	n, err := note.Open(signed, note.VerifierList(verifiers...))
	return err == nil && n.Text == body && len(n.Sigs) == len(verifiers)
}
