package transparency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxCosignAnswer bounds the answer of a witness, in bytes.
const maxCosignAnswer = 64 << 10

// submission returns the body of a request.
func submission(old int64, proof tlog.TreeProof, signed []byte) []byte {
	b := fmt.Appendf(nil, "old %d\n", old)
	for _, h := range proof {
		b = fmt.Appendf(b, "%s\n", h)
	}
	return append(append(b, '\n'), signed...)
}

// ProverOf returns the prover of the log in a database.
func ProverOf(db *kv.DB) Prover {
	return func(old, size int64) (proof tlog.TreeProof, err error) {
		err = View(db, func(t Txn) error { proof, err = tlog.ProveTree(size, old, t); return err })
		return proof, err
	}
}

// Prover returns the proof that the tree of a size contains the one of an earlier size.
type Prover func(old, size int64) (tlog.TreeProof, error)

// maxSubmissions is how often a checkpoint is sent to a witness that answers that it has another one than was supposed.
const maxSubmissions = 3

// Submit sends a checkpoint to the witness at an address, with the prefix of its paths, and returns the note with the
// cosignature of the given key. last is the size that the witness is supposed to have cosigned before; it says if that
// is wrong.
func Submit(ctx context.Context, client *http.Client, address string, key note.Verifier, signed []byte, last int64,
	prove Prover) (cosigned []byte, err error) {
	_, tree, err := ParseNote(signed)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		var proof tlog.TreeProof
		if last > 0 && last < tree.N {
			if proof, err = prove(last, tree.N); err != nil {
				return nil, fmt.Errorf("witness %s: %w", key.Name(), err)
			}
		}
		answer, err := post(ctx, client, address, submission(last, proof, signed))
		conflict, isConflict := errors.AsType[conflictError](err)
		switch {
		case isConflict && conflict.size > tree.N:
			return nil, fmt.Errorf("witness %s: it has cosigned a tree of %d versions, and this checkpoint has %d", key.Name(),
				conflict.size, tree.N)
		case isConflict && conflict.size == last:
			return nil, fmt.Errorf("witness %s: %w: it has cosigned another tree of %d versions", key.Name(), ErrForked, last)
		case isConflict && try < maxSubmissions:
			last = conflict.size
			continue
		case err != nil:
			return nil, fmt.Errorf("witness %s: %w", key.Name(), err)
		}
		body, err := Body(signed)
		if err != nil {
			return nil, err
		}
		n, err := note.Open(append(append(body, '\n'), answer...), note.VerifierList(key))
		if err != nil {
			return nil, fmt.Errorf("witness %s: its cosignature does not hold: %w", key.Name(), err)
		}
		cosigned, _ = withSignatures(signed, n.Sigs)
		return cosigned, nil
	}
}

func post(ctx context.Context, client *http.Client, address string, body []byte) ([]byte, error) {
	u := strings.TrimSuffix(address, "/") + "/" + addCheckpoint
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxCosignAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusConflict {
		text := strings.TrimSuffix(string(answer), "\n")
		if size, err := strconv.ParseInt(text, 10, 64); err == nil && size >= 0 && strconv.FormatInt(size, 10) == text {
			return nil, conflictError{size}
		}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s: %.300q", resp.Status, strings.TrimSpace(string(answer)))
	}
	return answer, nil
}

// CosignedAt returns when a witness cosigned a checkpoint. ok is false if it has not.
func CosignedAt(signed []byte, witness note.Verifier) (at time.Time, ok bool) {
	keys := note.VerifierList(witness)
	n, err := note.Open(signed, keys)
	if err != nil {
		return at, false
	}
	for _, w := range witnessed(n, keys) {
		return w.At, true
	}
	return at, false
}

// recentCheckpoints is how many checkpoints LastCosigned reads.
const recentCheckpoints = 30

// LastCosigned returns the size of the latest checkpoint that a witness has cosigned; 0 if no recent one has its
// signature.
func (t Txn) LastCosigned(ctx context.Context, witness note.Verifier) (size int64, err error) {
	read := 0
	err = t.Checkpoints(ctx, maxSize-1, func(c Checkpoint) (bool, error) {
		if _, ok := CosignedAt(c.Note, witness); ok {
			size = c.Size
		}
		read++
		return size == 0 && read < recentCheckpoints, nil
	})
	return size, err
}
