package warc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// mending is the ending of the copy of an .open file without what is damaged in it.
const mending = ".mending"

// complete cuts what is damaged or incomplete out of a file that a killed process left, says so in the log, and gives the
// file its name. A file without captures is removed. It does nothing if a living process has the file.
func (d *Dir) complete(name string) error {
	f, err := os.OpenFile(name+opened, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) { // another process was faster
		return nil
	}
	if err != nil {
		return err
	}
	if err := lockFile(f); err != nil {
		return f.Close()
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	found, err := examine(f, info.Size(), readCheckpoint(name))
	if err != nil {
		return errors.Join(err, f.Close())
	}
	log := d.opts.Log.With("file", filepath.Base(name))
	if !found.captures {
		if info.Size() > 0 {
			log.Warn("a WARC file that a killed process left has no sound capture and is removed", "bytes", info.Size())
		}
		_ = os.Remove(name + checkpoint)
		return errors.Join(f.Close(), os.Remove(name+opened))
	}
	for _, gap := range found.gaps {
		log.Warn("damaged or incomplete bytes are cut out of a WARC file that a killed process left", "offset", gap.from, "bytes", gap.to-gap.from)
	}
	if last := found.sound[len(found.sound)-1]; len(found.sound) == 1 && last.from == 0 {
		if err := f.Truncate(last.to); err != nil {
			return errors.Join(err, f.Close())
		}
		return seal(f, name)
	}
	mended, err := d.withoutGaps(f, name, found.sound)
	if err != nil {
		log.Error("a damaged WARC file is left as it is until the next start", "error", err)
		return f.Close()
	}
	return errors.Join(f.Close(), seal(mended, name))
}

// withoutGaps replaces an .open file by one that has the sound stretches alone, and returns it.
func (d *Dir) withoutGaps(f *os.File, name string, sound []stretch) (*os.File, error) {
	if err := d.room(); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(name+mending, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	err = lockFile(out)
	for _, s := range sound {
		if err == nil {
			_, err = io.Copy(out, io.NewSectionReader(f, s.from, s.to-s.from))
		}
	}
	if err == nil {
		err = out.Sync()
	}
	if err == nil {
		err = os.Remove(name + checkpoint) // it counts bytes of the other file
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(name+mending, name+opened)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close(), os.Remove(name+mending))
	}
	return out, nil
}

func readCheckpoint(name string) int64 {
	raw, _ := os.ReadFile(name + checkpoint)
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// stretch is bytes of a file.
type stretch struct{ from, to int64 }

// examined is what examine found of a file.
type examined struct {
	sound    []stretch // sound records, in order
	gaps     []stretch // what is between and behind them
	captures bool      // there is more than the warcinfo record
}

// examine finds the sound records of a file of a size, which is sound up to from.
func examine(f *os.File, size, from int64) (found examined, err error) {
	if from > size {
		from = 0
	}
	found.captures = from > 0
	at := from // behind the last sound record
	add := func(from, to int64) {
		if n := len(found.sound); n > 0 && found.sound[n-1].to == from {
			found.sound[n-1].to = to
		} else if from < to {
			found.sound = append(found.sound, stretch{from, to})
		}
	}
	add(0, from)
	gap := func(to int64) {
		if to > at {
			found.gaps = append(found.gaps, stretch{at, to})
		}
	}
	r := NewReader(io.NewSectionReader(f, from, size-from), Limits{})
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			gap(size)
			return found, nil
		}
		if errors.As(err, new(*Fault)) {
			continue
		}
		if err != nil {
			return found, err
		}
		if err := r.Finish(); err != nil || rec.Length == 0 {
			continue
		}
		gap(from + rec.Offset)
		at = from + rec.Offset + rec.Length
		add(from+rec.Offset, at)
		found.captures = found.captures || rec.Type != Warcinfo
	}
}
