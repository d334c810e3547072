package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/disk"
)

const (
	restBetweenRounds = 24 * time.Hour // from the begin of one round of Scrub to that of the next
	restAtLeast       = time.Minute    // after a round, also if List misses a file
	readAtOnce        = 256 << 10      // bytes that Verify reads at a time
)

// where is the directory as damages name it.
const where = "dumps"

// Verify compares all dumps with the sizes and digests in the index, and returns those that are damaged or missing. It
// changes nothing. A dump that is replaced meanwhile is not damaged. progress may be nil.
func (d *DumpDir) Verify(ctx context.Context, slow *disk.Throttle, progress func(done, total int64)) ([]disk.Damage, error) {
	i, bad, err := d.indexed()
	if err != nil || bad != nil {
		return damages(bad), err
	}
	var total, done int64
	for _, one := range i.Dumps {
		total += one.Size
	}
	var found []disk.Damage
	for _, one := range i.Dumps {
		why, err := d.fault(ctx, one, slow)
		if err != nil {
			return found, err
		}
		if done += one.Size; progress != nil {
			progress(done, total)
		}
		if why == "" {
			continue
		}
		now, _, err := d.indexed()
		if err != nil {
			return found, err
		}
		if slices.Contains(now.Dumps, one) {
			found = append(found, disk.Damage{File: path.Join(where, one.Name), Offset: -1, Why: why, Found: time.Now()})
		}
	}
	return found, nil
}

func damages(bad *disk.Damage) []disk.Damage {
	if bad == nil {
		return nil
	}
	return []disk.Damage{*bad}
}

// indexed returns the index, and a damage if it cannot be decoded.
func (d *DumpDir) indexed() (i index, bad *disk.Damage, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	raw, err := disk.ReadFile(d.o.FS, filepath.Join(d.o.Path, indexFile), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil, nil
	}
	if err != nil {
		return i, nil, fmt.Errorf("dumps: %w", err)
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		return index{}, &disk.Damage{File: path.Join(where, indexFile), Offset: -1, Why: "the index of dumps cannot be decoded",
			Found: time.Now()}, nil
	}
	for _, one := range i.Dumps {
		if !validName(one.Name) {
			return index{}, &disk.Damage{File: path.Join(where, indexFile), Offset: -1,
				Why: "the index of dumps has a name that is none of theirs", Found: time.Now()}, nil
		}
	}
	return i, nil, nil
}

// fault says what is wrong with a dump, "" if nothing is. An error is what prevented the comparison.
func (d *DumpDir) fault(ctx context.Context, one catalog.Dump, slow *disk.Throttle) (why string, err error) {
	f, err := d.o.FS.OpenFile(filepath.Join(d.o.Path, one.Name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "the file is missing", nil
	}
	if err != nil {
		return "the file cannot be opened: " + err.Error(), nil
	}
	defer f.Close()
	digest, buffer, size := sha256.New(), make([]byte, readAtOnce), int64(0)
	for {
		if err := slow.Wait(ctx, len(buffer)); err != nil {
			return "", err
		}
		n, err := f.Read(buffer)
		digest.Write(buffer[:n])
		if size += int64(n); size > one.Size {
			return fmt.Sprintf("the file has more than its %d bytes", one.Size), nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "the file cannot be read: " + err.Error(), nil
		}
	}
	switch {
	case size < one.Size:
		return fmt.Sprintf("the file has %d of its %d bytes", size, one.Size), nil
	case hex.EncodeToString(digest.Sum(nil)) != one.SHA256:
		return "the SHA-256 digest of the file is not that in the index", nil
	}
	return "", nil
}

// Discard removes dumps that Verify found to be damaged, so that they are no longer served, and makes new ones due. All
// others stay.
func (d *DumpDir) Discard(found []disk.Damage) error {
	if len(found) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.readIndex() // without names that are none of theirs
	if err != nil {
		return err
	}
	next := index{} // Last is zero: dumps are due
	for _, one := range i.Dumps {
		if !slices.ContainsFunc(found, func(bad disk.Damage) bool { return bad.File == path.Join(where, one.Name) }) {
			next.Dumps = append(next.Dumps, one)
		}
	}
	if err := d.writeIndex(next); err != nil {
		return err
	}
	for _, bad := range found {
		name := path.Base(bad.File)
		if name == indexFile || !validName(name) {
			continue
		}
		if err := d.o.FS.Remove(filepath.Join(d.o.Path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("dumps: %w", err)
		}
	}
	select {
	case d.due <- struct{}{}:
	default:
	}
	return nil
}

// Due returns a channel that receives a value after Discard has made new dumps due.
func (d *DumpDir) Due() <-chan struct{} { return d.due }

// Scrub verifies all dumps once a day, reading at most so many bytes a second, until ctx ends. It names what is damaged
// in the log and discards it.
func (d *DumpDir) Scrub(ctx context.Context, bytesPerSecond int64) error {
	slow := disk.NewThrottle(bytesPerSecond)
	for {
		began := time.Now()
		if err := d.scrubRound(ctx, slow); err != nil && ctx.Err() == nil {
			d.o.Log.Warn("scrub of dumps ended early", "error", err)
		}
		if !wait(ctx, restAtLeast, nil) || !wait(ctx, restBetweenRounds-time.Since(began), d.fixity.Woken()) {
			return nil
		}
	}
}

// wait returns after a time or when woken; false if ctx ends.
func wait(ctx context.Context, long time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
		return false
	}
	return true
}

func (d *DumpDir) scrubRound(ctx context.Context, slow *disk.Throttle) error {
	d.fixity.BeginRound(0)
	found, err := d.Verify(ctx, slow, d.fixity.Progress)
	for _, bad := range found {
		if d.fixity.Note(bad) {
			d.o.Log.Error("a dump is damaged; it is removed, and another one is due", "file", bad.File, "why", bad.Why)
		}
	}
	if err == nil {
		err = d.Discard(found)
	}
	if err != nil {
		return err
	}
	for _, bad := range found {
		d.fixity.Mended(bad.File, "the triples, which the next dump has again", "")
	}
	d.fixity.EndRound()
	return nil
}

// Scrubbed returns the progress of Scrub.
func (d *DumpDir) Scrubbed() disk.Round { return d.fixity.Scrubbed() }

// Damages returns what Scrub found since this process began.
func (d *DumpDir) Damages() []disk.Damage { return d.fixity.Damages() }
