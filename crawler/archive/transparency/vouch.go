package transparency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/exchange/timestamp"
	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/note"
)

// What others say of a checkpoint is stored with it: cosignatures of witnesses, and a time stamp.

// checkpoint returns the stored checkpoint with the body of a signed note. The error is ErrForked if there is another
// one of the same size and log. ok is false if there is none.
func (t Txn) checkpoint(signed []byte) (c Checkpoint, ok bool, err error) {
	origin, tree, err := ParseNote(signed)
	if err != nil {
		return c, false, err
	}
	k := checkpointKey(tree.N, origin)
	raw, ok, err := t.Get(space, k)
	if err != nil || !ok {
		return c, false, err
	}
	if c, err = decodeCheckpoint(k, raw); err != nil {
		return c, false, err
	}
	want, err := Body(signed)
	if err != nil {
		return c, false, err
	}
	if have, err := Body(c.Note); err != nil || !bytes.Equal(have, want) {
		return c, false, fmt.Errorf("%w: the checkpoint of %d versions is another one", ErrForked, tree.N)
	}
	return c, true, nil
}

// stored is checkpoint for one that must be there. The error is ErrNotLogged if it is not.
func (t Txn) stored(signed []byte) (Checkpoint, error) {
	c, ok, err := t.checkpoint(signed)
	if err == nil && !ok {
		origin, tree, _ := ParseNote(signed) // checkpoint has parsed it
		err = fmt.Errorf("%w: this archive has signed no tree of %d versions as %s", ErrNotLogged, tree.N, origin)
	}
	return c, err
}

// maxCosignatures bounds the signatures of a checkpoint.
const maxCosignatures = 50

// AddCosignatures adds the signatures of a note to the checkpoint with the same body, if they are of the given
// witnesses. It returns how many it added.
func AddCosignatures(ctx context.Context, db *kv.DB, signed []byte, witnesses []note.Verifier) (added int, err error) {
	n, err := note.Open(signed, note.VerifierList(witnesses...))
	if err != nil {
		return 0, fmt.Errorf("%w: it has no signature of a witness that this archive knows: %w", ErrNote, err)
	}
	err = db.Update(ctx, func(txn *kv.Txn) error {
		t := Txn{txn}
		c, err := t.stored(signed)
		if err != nil {
			return err
		}
		if c.Note, added = withSignatures(c.Note, n.Sigs); added == 0 {
			return nil
		}
		return t.saveCheckpoint(c)
	})
	return added, err
}

// withSignatures returns a note with more signatures. A signature replaces an earlier one of the same key.
func withSignatures(signed []byte, sigs []note.Signature) (with []byte, added int) {
	body, rest, _ := bytes.Cut(signed, []byte("\n\n"))
	lines := strings.SplitAfter(strings.TrimSuffix(string(rest), "\n")+"\n", "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	for _, s := range sigs {
		line := "— " + s.Name + " " + s.Base64 + "\n"
		if slices.Contains(lines, line) {
			continue
		}
		same := func(l string) bool { return strings.HasPrefix(l, "— "+s.Name+" "+s.Base64[:5]) } // 30 bits of the key's hash
		lines = slices.DeleteFunc(lines, same)
		if len(lines) >= maxCosignatures {
			continue
		}
		lines = append(lines, line)
		added++
	}
	return []byte(string(body) + "\n\n" + strings.Join(lines, "")), added
}

// StampDigest returns what a time stamp of a signed checkpoint is over: the SHA-256 of its body.
func StampDigest(signed []byte) (digest [32]byte, err error) {
	body, err := Body(signed)
	return sha256.Sum256(body), err
}

// SetTimeStamp stores the response of a time-stamping authority with the checkpoint that has the body of a signed note.
// The caller has verified it.
func SetTimeStamp(ctx context.Context, db *kv.DB, signed, response []byte) error {
	if len(response) > timestamp.MaxResponse {
		return fmt.Errorf("a time stamp has at most %d bytes", timestamp.MaxResponse)
	}
	return db.Update(ctx, func(txn *kv.Txn) error {
		t := Txn{txn}
		c, err := t.stored(signed)
		if err != nil {
			return err
		}
		c.TimeStamp = response
		return t.saveCheckpoint(c)
	})
}
