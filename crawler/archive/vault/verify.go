package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// Verified is what Verify has read and found.
type Verified struct {
	Objects int      `json:"objects"`
	Bytes   int64    `json:"bytes"`
	Records int64    `json:"records"`
	Faults  []string `json:"faults,omitempty"` // sentences; none for a sound vault
}

const maxFaults = 1000

func (v *Verified) fault(err error) error {
	if !errors.Is(err, ErrBroken) && !errors.Is(err, kv.ErrDamaged) && !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	if len(v.Faults) < maxFaults {
		v.Faults = append(v.Faults, err.Error())
	}
	return nil
}

// Verify reads every object that a restore may need, and compares it with its checksums: state files, packs, and the log,
// whose records must follow one another without gaps. Objects that the writer deletes meanwhile are not faults.
func (h *History) Verify(ctx context.Context, p Progress) (v Verified, err error) {
	for _, b := range h.branches() {
		if err := h.verifyLog(ctx, b, &v, p); err != nil {
			return v, fmt.Errorf("verify: %w", err)
		}
	}
	for _, s := range h.snapshots {
		if err := v.fault(h.verifyState(ctx, s, &v, p)); err != nil {
			return v, fmt.Errorf("verify: %w", err)
		}
	}
	there, err := listPacks(ctx, h.b)
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	for _, w := range there.whole {
		if err := v.fault(h.verifyPart(ctx, part{whole: w, length: w.size, key: w.key}, &v, p)); err != nil {
			return v, fmt.Errorf("verify: %w", err)
		}
	}
	for _, list := range there.pieces {
		for _, one := range list {
			if err := v.fault(h.verifyPart(ctx, part{length: one.length, crc: one.crc, key: one.key}, &v, p)); err != nil {
				return v, fmt.Errorf("verify: %w", err)
			}
		}
	}
	return v, nil
}

// verifyLog reads the log of a history from its first state file on.
func (h *History) verifyLog(ctx context.Context, b branch, v *Verified, p Progress) error {
	snapshots, spans := h.snapshotsOf(b), h.spansOf(b)
	if len(snapshots) == 0 {
		return nil
	}
	first := snapshots[0]
	way, last := path(spans, first.number)
	for _, s := range spans {
		if s.first > last+1 {
			if err := v.fault(fmt.Errorf("%w: the log has no record %d", ErrBroken, last+1)); err != nil {
				return err
			}
			break
		}
	}
	t := Target{Number: last, from: first, way: way}
	for e, err := range h.records(ctx, t) {
		if errors.Is(err, bucket.ErrNotFound) { // merged or deleted since Open
			return nil
		}
		if err != nil {
			return v.fault(err)
		}
		v.Records++
		v.Bytes += int64(len(e.Body))
		p.add("log", int64(len(e.Body)))
		for _, s := range snapshots {
			if s.number == e.Number && s.sum != e.Sum {
				if err := v.fault(fmt.Errorf("%w: %s does not belong to the log", ErrBroken, s.key)); err != nil {
					return err
				}
			}
		}
	}
	v.Objects += len(way)
	return nil
}

func (h *History) verifyState(ctx context.Context, s snapshot, v *Verified, p Progress) error {
	if s.number == 0 {
		return nil
	}
	r, _, err := h.b.Get(ctx, s.key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	v.Objects++
	number, err := kv.CheckState(ctx, &counted{r: r, f: func(n int64) { v.Bytes += n; p.add("state", n) }})
	if err == nil && number != s.number {
		err = ErrBroken
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.key, err)
	}
	return nil
}

func (h *History) verifyPart(ctx context.Context, one part, v *Verified, p Progress) error {
	r, _, err := h.b.Get(ctx, one.key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	v.Objects++
	sum, crc := sha256.New(), crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(sum, crc), &counted{r: r, f: func(n int64) { v.Bytes += n; p.add("packs", n) }})
	switch {
	case err != nil:
		return err
	case one.whole.damaged:
		return fmt.Errorf("%w: %s was already damaged when it was copied", ErrBroken, one.whole.name)
	case n != one.length, one.whole.name != "" && !nameMatches(one.whole.name, sum.Sum(nil)), one.whole.name == "" && crc.Sum32() != one.crc:
		return fmt.Errorf("%w: %s differs from its checksum", ErrBroken, one.key)
	}
	return nil
}
