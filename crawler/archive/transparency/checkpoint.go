package transparency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"odarchive/triplestore/fields"

	"encoding/binary"

	"golang.org/x/mod/sumdb/tlog"
)

// maxNote bounds a checkpoint with its signatures, in bytes.
const maxNote = 64 << 10

// Checkpoint is a signed state of the tree.
type Checkpoint struct {
	Size      int64
	Signed    time.Time // when this archive signed it, to the millisecond
	Note      []byte    // the signed note, with cosignatures
	TimeStamp []byte    // a time-stamp response (RFC 3161) over Note's body, DER; nil for none
}

// ErrNote is in the chain of errors about texts that are not checkpoints.
var ErrNote = errors.New("not a checkpoint")

// ParseBody reads the body of a checkpoint, which is the text before its signatures: the origin, the size and the root
// hash of the tree, a line each. Further lines are ignored. Sizes that this program's trees cannot have are errors:
// with the greatest of them, package tlog computes for ever.
func ParseBody(body []byte) (origin string, tree tlog.Tree, err error) {
	lines := strings.SplitN(string(body), "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return "", tree, fmt.Errorf("%w: expected three lines", ErrNote)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || size >= maxSize || strconv.FormatInt(size, 10) != lines[1] {
		return "", tree, fmt.Errorf("%w: %.40q is not a size below %d", ErrNote, lines[1], int64(maxSize))
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return "", tree, fmt.Errorf("%w: %.80q is not a hash", ErrNote, lines[2])
	}
	return lines[0], tlog.Tree{N: size, Hash: tlog.Hash(root)}, nil
}

// Body returns the body of a signed note, without checking its signatures.
func Body(note []byte) ([]byte, error) {
	body, _, found := bytes.Cut(note, []byte("\n\n"))
	if !found || len(note) > maxNote {
		return nil, fmt.Errorf("%w: it has no signature", ErrNote)
	}
	return append(bytes.Clone(body), '\n'), nil
}

// ParseNote reads a signed checkpoint without checking its signatures.
func ParseNote(note []byte) (origin string, tree tlog.Tree, err error) {
	body, err := Body(note)
	if err != nil {
		return "", tree, err
	}
	return ParseBody(body)
}

func formatBody(origin string, tree tlog.Tree) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, tree.N, tree.Hash)
}

// checkpointKey orders the greatest size first. Two logs, of which one was begun after a restore, may have signed the
// same size.
func checkpointKey(size int64, origin string) []byte {
	sum := sha256.Sum256([]byte(origin))
	return append(appendIndex([]byte{tableCheckpoint}, maxSize-1-size), sum[:4]...)
}

const checkpointFormat = 1

func (t Txn) saveCheckpoint(c Checkpoint) error {
	origin, _, err := ParseNote(c.Note)
	if err != nil {
		return err
	}
	b := binary.AppendVarint([]byte{checkpointFormat}, c.Signed.UnixMilli())
	b = fields.AppendText(b, string(c.Note))
	b = fields.AppendText(b, string(c.TimeStamp))
	return t.Set(space, checkpointKey(c.Size, origin), b)
}

func decodeCheckpoint(k, raw []byte) (c Checkpoint, err error) {
	r := fields.Reader{B: raw}
	if len(k) != 1+indexLen+4 || r.Byte() != checkpointFormat {
		r.Fail()
	}
	c.Signed = time.UnixMilli(r.Varint()).UTC()
	c.Note, c.TimeStamp = []byte(r.Text()), []byte(r.Text())
	if r.End() != nil {
		return c, fmt.Errorf("%w: a checkpoint cannot be read", ErrDamaged)
	}
	c.Size = maxSize - 1 - readIndex(k[1:1+indexLen])
	return c, nil
}

// Checkpoints calls f with the checkpoints of sizes up to a given one, the greatest first, until f returns false or an
// error.
func (t Txn) Checkpoints(ctx context.Context, upTo int64, f func(Checkpoint) (more bool, err error)) error {
	from := appendIndex([]byte{tableCheckpoint}, max(maxSize-1-upTo, 0))
	return t.Scan(space, []byte{tableCheckpoint}, from, func(k, raw []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		c, err := decodeCheckpoint(k, raw)
		if err != nil {
			return false, err
		}
		return f(c)
	})
}

// Latest returns the checkpoint of the greatest size; of several, the one that was signed last.
func (t Txn) Latest() (latest Checkpoint, ok bool, err error) {
	err = t.Checkpoints(context.Background(), maxSize-1, func(c Checkpoint) (bool, error) {
		switch {
		case !ok:
			latest, ok = c, true
		case c.Size < latest.Size:
			return false, nil
		case c.Signed.After(latest.Signed):
			latest = c
		}
		return true, nil
	})
	return latest, ok, err
}

// CheckpointFor returns the checkpoint in a signed note, which must be of a tree that this log has; nil stands for the
// latest one.
func (t Txn) CheckpointFor(signed []byte) (c Checkpoint, err error) {
	if signed == nil {
		c, ok, err := t.Latest()
		if err == nil && !ok {
			err = notSigned(ok)
		}
		return c, err
	}
	_, tree, err := ParseNote(signed)
	if err != nil {
		return c, err
	}
	c = Checkpoint{Size: tree.N, Note: signed}
	if err := t.contains(signed, "this checkpoint"); err != nil {
		return c, err
	}
	if own, ok, err := t.checkpoint(signed); err == nil && ok { // else only the time stamp is missing
		c.Signed, c.TimeStamp = own.Signed, own.TimeStamp
	}
	return c, nil
}
