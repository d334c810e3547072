package transparency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// AuditOptions are what an audit believes, and what it compares a log with.
type AuditOptions struct {
	Keys  []note.Verifier // of the log; without them the checkpoint's signature is not checked
	Since [][]byte        // earlier checkpoints, signed notes
	Retry time.Duration   // the first pause before a file is asked for again; 0 means a second
	// Progress is called after each part of the log with the leaves that were read; nil for none.
	Progress func(done, all int64)
}

// Audited is the result of Audit.
type Audited struct {
	Log       string   `json:"log"` // origin
	Versions  int64    `json:"versions"`
	Root      string   `json:"root"`
	Signed    bool     `json:"signed"`    // the signature of the log was checked
	Compared  []int64  `json:"compared"`  // sizes of the earlier checkpoints that the log continues
	Files     int64    `json:"files"`     // that were read
	Bytes     int64    `json:"bytes"`     // that were read
	Recorded  int64    `json:"recorded"`  // leaves of versions that were stored before the archive had a log
	Faults    []string `json:"faults"`    // the first faults, one sentence each
	AllFaults int      `json:"allFaults"` // number of all faults
	Note      []byte   `json:"-"`         // the checkpoint, for who keeps it
}

// auditTries is how often a file is asked for.
const auditTries = 4

// auditor reads a published log.
type auditor struct {
	Audited
	files  Files
	opts   AuditOptions
	tree   tlog.Tree
	since  map[int64][]tlog.Hash
	rows   [indexLen][]tlog.Hash // of each level: the hashes of the last tile so far
	grown  growing
	faults Checked
}

// Audit reads all entries and tiles of a published log, computes its tree anew, and compares it with the log's
// checkpoint and with earlier ones. It needs no archive and some kilobytes of memory. The result has the faults. An
// error means that the audit could not be completed.
func Audit(ctx context.Context, files Files, opts AuditOptions) (Audited, error) {
	a := &auditor{files: files, opts: opts, since: map[int64][]tlog.Hash{}}
	err := a.run(ctx)
	a.Faults, a.AllFaults = a.faults.Faults, a.faults.Found
	return a.Audited, err
}

func (a *auditor) run(ctx context.Context) (err error) {
	if err := a.begin(ctx); err != nil {
		return err
	}
	for from := int64(0); from < a.tree.N; from += tileWidth {
		complete, err := a.bundle(ctx, tile{-1, from / tileWidth, int(min(tileWidth, a.tree.N-from))})
		if err != nil || !complete {
			return err
		}
		if a.opts.Progress != nil {
			a.opts.Progress(a.grown.size, a.tree.N)
		}
	}
	for level, row := range a.rows {
		if len(row) > 0 {
			n := a.tree.N >> (tileHeight * level) / tileWidth
			if err := a.compareTile(ctx, tile{level, n, len(row)}, row); err != nil {
				return err
			}
		}
	}
	if a.tree.N > 0 && a.grown.root() != a.tree.Hash || a.tree.N == 0 && a.tree.Hash != emptyRoot() {
		a.faults.Fault("the %d leaves are not those of the checkpoint", a.tree.N)
	}
	return nil
}

func emptyRoot() tlog.Hash { return sha256.Sum256(nil) }

// begin reads the checkpoints.
func (a *auditor) begin(ctx context.Context) (err error) {
	if a.Note, err = a.read(ctx, func() ([]byte, error) { return a.files(ctx, CheckpointFile) }); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	a.Log, a.tree, err = ParseNote(a.Note)
	if err == nil && len(a.opts.Keys) > 0 {
		_, _, err = OpenNote(a.Note, a.opts.Keys)
		a.Signed = true
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	a.Versions, a.Root = a.tree.N, a.tree.Hash.String()
	for _, signed := range a.opts.Since {
		origin, before, err := ParseNote(signed)
		if err == nil && len(a.opts.Keys) > 0 {
			_, _, err = OpenNote(signed, a.opts.Keys)
		}
		if err == nil && origin != a.Log {
			err = fmt.Errorf("the checkpoint is of the log %s, and not of %s", origin, a.Log)
		}
		switch {
		case err != nil:
			return fmt.Errorf("audit: the earlier checkpoint: %w", err)
		case before.N > a.tree.N:
			a.faults.Fault("it has %d versions now, and a checkpoint of %d was signed", a.tree.N, before.N)
		case before.N == 0:
			a.Compared = append(a.Compared, 0)
		default:
			a.since[before.N] = append(a.since[before.N], before.Hash)
		}
	}
	return nil
}

// read reads a file, several times if that fails for a reason that may pass.
func (a *auditor) read(ctx context.Context, file func() ([]byte, error)) (b []byte, err error) {
	pause := a.opts.Retry
	if pause == 0 {
		pause = time.Second
	}
	for try := 1; ; try++ {
		if b, err = file(); err == nil {
			a.Files++
			a.Bytes += int64(len(b))
			return b, nil
		}
		if errors.Is(err, fs.ErrNotExist) || try == auditTries || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// bundle adds the leaves of a bundle to the tree. It is not complete if there are leaves that cannot be read, so that
// no later one can be judged.
func (a *auditor) bundle(ctx context.Context, t tile) (complete bool, err error) {
	b, err := a.read(ctx, func() ([]byte, error) { return a.files.tile(ctx, t) })
	if errors.Is(err, fs.ErrNotExist) {
		a.faults.Fault("%s is missing", t.path())
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	for i := range t.width {
		index := t.n*tileWidth + int64(i)
		if len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b)) {
			a.faults.Fault("%s ends before leaf %d", t.path(), index)
			return false, nil
		}
		n := 2 + int(binary.BigEndian.Uint16(b))
		raw := b[2:n]
		b = b[n:]
		if leaf, err := ParseLeaf(raw); err != nil {
			a.faults.Fault("leaf %d cannot be read", index)
		} else if leaf.Flags&FromRecords != 0 {
			a.Recorded++
		}
		if err := a.leaf(ctx, tlog.RecordHash(raw)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// leaf adds a leaf, and compares the tiles that it completes and the earlier checkpoints of this size.
func (a *auditor) leaf(ctx context.Context, h tlog.Hash) error {
	if err := a.hash(ctx, 0, a.grown.size, h); err != nil {
		return err
	}
	if err := a.grown.add(h, func(level int, n int64, h tlog.Hash) error { return a.hash(ctx, level, n, h) }); err != nil {
		return err
	}
	for _, want := range a.since[a.grown.size] {
		if a.grown.root() == want {
			a.Compared = append(a.Compared, a.grown.size)
		} else {
			a.faults.Fault("its first %d versions are not those of the earlier checkpoint", a.grown.size)
		}
	}
	return nil
}

// hash notes hash n of a level, and compares the tile that it completes.
func (a *auditor) hash(ctx context.Context, level int, n int64, h tlog.Hash) error {
	if level >= len(a.rows) {
		return nil
	}
	a.rows[level] = append(a.rows[level], h)
	if len(a.rows[level]) < tileWidth {
		return nil
	}
	err := a.compareTile(ctx, tile{level, n / tileWidth, tileWidth}, a.rows[level])
	a.rows[level] = a.rows[level][:0]
	return err
}

// compareTile compares a tile with the hashes that the leaves lead to.
func (a *auditor) compareTile(ctx context.Context, t tile, want []tlog.Hash) error {
	b, err := a.read(ctx, func() ([]byte, error) { return a.files.tile(ctx, t) })
	if errors.Is(err, fs.ErrNotExist) {
		a.faults.Fault("%s is missing", t.path())
		return nil
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if len(b) < len(want)*tlog.HashSize {
		a.faults.Fault("%s has %d bytes, expected %d", t.path(), len(b), len(want)*tlog.HashSize)
		return nil
	}
	for i, h := range want {
		if tlog.Hash(b[i*tlog.HashSize:][:tlog.HashSize]) == h {
			continue
		}
		if what := t.n*tileWidth + int64(i); t.level == 0 {
			a.faults.Fault("leaf %d is not the one in %s", what, t.path())
		} else {
			a.faults.Fault("hash %d of %s is not that of its leaves", i, t.path())
		}
	}
	return nil
}
