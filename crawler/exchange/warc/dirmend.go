package warc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// mending is the ending of a copy of an .open file that is made to leave out damaged parts.
const mending = ".mending"

// complete completes a file that a killed process left. It removes the parts that are damaged or incomplete, logs that,
// and renames the file. A file without captures is deleted. If another process is still writing to the file, complete
// does nothing.
func (d *Dir) complete(name string) error {
	f, err := os.OpenFile(name+opened, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) { // another process has completed it
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
		log.Warn("damaged or incomplete bytes are cut out of a WARC file that a killed process left", "offset", gap.from, "bytes",
			gap.to-gap.from)
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

// withoutGaps replaces an .open file by a file with only the sound stretches, which it returns.
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
		err = os.Remove(name + checkpoint) // its number does not apply to the new file
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

// readCheckpoint returns the number of bytes of a file that are known to be on the disk, 0 if that is not known.
func readCheckpoint(name string) int64 {
	raw, _ := os.ReadFile(name + checkpoint)
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// stretch is the range of bytes of a file from from up to, but not including, to.
type stretch struct{ from, to int64 }

// examined is the result of examine.
type examined struct {
	sound    []stretch // stretches of sound records, in order
	gaps     []stretch // damaged parts between and after them
	captures bool      // there are other records than warcinfo
}

// examine finds the sound records of a file of size bytes. The first from bytes are known to be sound.
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
