package vault

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// appendAll copies what is committed, every Options.Every, or at once if commits wait.
func (k *Keeper) appendAll(ctx context.Context) error {
	tick := time.NewTicker(k.opts.Every)
	defer tick.Stop()
	var behind time.Time // since when nothing can be copied
	for {
		if err := k.cycle(ctx); err != nil {
			if ctx.Err() != nil || isPermanent(err) || errors.Is(err, errAgain) {
				return err
			}
			k.failed(err)
			if behind.IsZero() {
				behind = time.Now()
				k.log.Warn("the backup gets nothing more; trying on", "error", err)
			}
			if !rest(ctx, min(k.opts.Every, retryEvery)) {
				return nil
			}
			continue
		}
		if !behind.IsZero() {
			k.log.Warn("the backup has everything again", "after", time.Since(behind).Round(time.Second))
			behind = time.Time{}
		}
		var wake <-chan struct{}
		if k.opts.Wait {
			wake = k.gate.wake
		}
		select {
		case <-tick.C:
		case <-wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// maxAppend is about how many bytes of records go into one object.
const maxAppend = 4 << 20

// cycle copies what has been committed: first the bytes that it names, then its records.
func (k *Keeper) cycle(ctx context.Context) error {
	upTo := k.src.DB.Committed()
	at := k.writer.At()
	k.src.DB.Hold(holdName, at.Number)
	if upTo <= at.Number {
		if time.Since(k.read) >= readerIdle {
			k.closeReader() // else a segment that is trimmed meanwhile would stay on the disk
		}
		k.reached(0)
		return k.writer.Fenced()
	}
	if err := k.packs.copyNew(ctx); err != nil {
		return err
	}
	err := k.copyRecords(ctx, at, upTo)
	if err != nil {
		k.closeReader()
	}
	if errors.Is(err, kv.ErrLogTrimmed) || errors.Is(err, kv.ErrOtherHistory) {
		k.log.Warn("the log of the archive does not lead on from the end of the backup", "error", err)
		return errAgain
	}
	return err
}

// readerIdle is how long the file of the log stays open when there is nothing to read.
const readerIdle = time.Second

// copyRecords copies records from a position on, up to a number.
func (k *Keeper) copyRecords(ctx context.Context, at wal.Position, upTo uint64) error {
	if err := k.openReader(at); err != nil {
		return err
	}
	k.read = time.Now()
	var list []entry
	size := 0
	for k.reader.Position().Number < upTo {
		r, ok, err := k.reader.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		e := entry{Record: wal.Record{Number: r.Number, Sum: r.Sum, Body: append([]byte(nil), r.Body...)}, at: k.gate.timeOf(r.Number)}
		list, size = append(list, e), size+len(r.Body)
		if size >= maxAppend {
			if err := k.append(ctx, list, size); err != nil {
				return err
			}
			list, size = list[:0], 0
		}
	}
	if len(list) == 0 {
		return nil
	}
	return k.append(ctx, list, size)
}

// openReader makes the reader of the log one behind a position. A new one reads its segment of the log from the
// beginning.
func (k *Keeper) openReader(at wal.Position) (err error) {
	if k.reader != nil && k.reader.Position() == at {
		return nil
	}
	k.closeReader()
	k.reader, err = k.src.DB.ReadFrom(at)
	return err
}

func (k *Keeper) closeReader() {
	if k.reader != nil {
		k.reader.Close()
		k.reader = nil
	}
}

// append adds records of size bytes to the vault.
func (k *Keeper) append(ctx context.Context, list []entry, size int) error {
	n, err := k.writer.append(ctx, list)
	if n > 0 {
		k.merger.note(k.writer.recent()...)
		k.gate.reach(k.writer.At().Number)
		k.src.DB.Hold(holdName, k.writer.At().Number)
		k.reached(size)
	}
	return err
}
