package transparency

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"odarchive/triplestore/disk"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Read returns the checkpoint of a log, which must be signed by one of the keys.
func (f Files) Read(ctx context.Context, keys []note.Verifier) (signed []byte, origin string, tree tlog.Tree, err error) {
	if signed, err = f(ctx, CheckpointFile); err != nil {
		return nil, "", tree, err
	}
	if origin, tree, err = OpenNote(signed, keys); err != nil {
		return nil, "", tree, err
	}
	return signed, origin, tree, nil
}

// OpenNote reads a checkpoint that must be signed by one of the keys of a log.
func OpenNote(signed []byte, keys []note.Verifier) (origin string, tree tlog.Tree, err error) {
	n, err := note.Open(signed, note.VerifierList(keys...))
	if err != nil {
		return "", tree, fmt.Errorf("checkpoint: %w", err)
	}
	if origin, tree, err = ParseBody([]byte(n.Text)); err != nil {
		return "", tree, err
	}
	for _, s := range n.Sigs {
		if s.Name == origin {
			return origin, tree, nil
		}
	}
	return "", tree, fmt.Errorf("checkpoint of %s: the key is of another log", origin)
}

// Witness compares the present checkpoint of a log with the one that it saw before, which is in a file, or in the file
// for this log (SeenFile) below a directory, and cosigns it if it contains that one. The file is durable before Witness
// returns the cosigned note. If the log has changed or lost what it had, the error is ErrForked, the file stays, and
// the note is the proof against the log.
func Witness(ctx context.Context, log Files, keys []note.Verifier, by *Cosigner, file string) (cosigned []byte, tree tlog.Tree, err error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		_, origin, _, err := log.Read(ctx, keys)
		if err != nil {
			return nil, tree, fmt.Errorf("witness: %w", err)
		}
		file = SeenFile(file, origin)
	}
	unlock, err := lock(file + ".lock")
	if err != nil {
		return nil, tree, fmt.Errorf("witness: %w", err)
	}
	defer unlock()
	signed, origin, tree, err := log.Read(ctx, keys) // behind the lock, since another process may see a later one
	if err != nil {
		return nil, tree, fmt.Errorf("witness: %w", err)
	}
	seen, err := disk.ReadFile(disk.OS{}, file, maxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, tree, fmt.Errorf("witness: %w", err)
	}
	if err == nil {
		before, earlier, err := ParseNote(seen)
		if err == nil && before != origin {
			err = fmt.Errorf("%s is about the log %s, and this one is %s", file, before, origin)
		}
		if err == nil {
			err = Consistent(ctx, earlier, tree, log)
		}
		if err != nil {
			return signed, tree, fmt.Errorf("witness of %s: %w", origin, err)
		}
	}
	if err := disk.WriteFile(disk.OS{}, file, signed, 0o644); err != nil {
		return nil, tree, fmt.Errorf("witness: %w", err)
	}
	sigs, err := by.cosign(signed)
	if err != nil {
		return nil, tree, fmt.Errorf("witness: %w", err)
	}
	cosigned, _ = withSignatures(signed, sigs)
	return cosigned, tree, nil
}

// cosign returns the cosignature of a checkpoint.
func (c *Cosigner) cosign(signed []byte) ([]note.Signature, error) {
	body, err := Body(signed)
	if err != nil {
		return nil, err
	}
	own, err := note.Sign(&note.Note{Text: string(body)}, c.signer)
	if err != nil {
		return nil, err
	}
	n, err := note.Open(own, note.VerifierList(c.signer))
	if err != nil {
		return nil, err
	}
	return n.Sigs, nil
}
