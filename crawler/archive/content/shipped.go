package content

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// A replica copies the files of the store. What is committed in an open pack does not change any more, and a closed
// pack or parity file never does. So a replica that has these bytes first can then apply the write sets that name them.

// PackFile is a file with stored bytes: a pack or the parity of one.
type PackFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // in bytes; of an open pack, what is committed
}

// IsOpen reports whether the pack may still grow, and then gets another name.
func (f PackFile) IsOpen() bool { return strings.HasSuffix(f.Name, openSuffix) }

// Number returns the number of the pack, 0 if the name is not that of a pack or its parity.
func (f PackFile) Number() uint64 {
	name := f.Name
	if base, ok := strings.CutSuffix(name, paritySuffix); ok {
		name = base + closedSuffix
	}
	num, _, _ := parsePackName(name)
	return num
}

// Hash returns what begins the SHA-256 of the file, in hexadecimal: "" for open packs and parity.
func (f PackFile) Hash() string {
	_, hash, _ := parsePackName(f.Name)
	return hash
}

// PackVersion changes whenever a file comes, goes or is renamed. It is that of this Store only.
func (s *Store) PackVersion() uint64 { return s.packs.version.Load() }

// PackFiles returns all files with committed bytes, by name.
func (s *Store) PackFiles() (list []PackFile, err error) {
	open, err := s.OpenPacks() // first: one that is closed meanwhile is in both lists, and in none the other way round
	if err != nil {
		return nil, err
	}
	entries, err := s.fs.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("content: list packs: %w", err)
	}
	for _, e := range entries {
		f := PackFile{Name: e.Name()}
		if f.Number() == 0 || f.IsOpen() {
			continue
		}
		info, err := s.fs.Stat(filepath.Join(s.dir, f.Name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("content: list packs: %w", err)
		}
		f.Size = info.Size()
		list = append(list, f)
	}
	for _, o := range open {
		closed := func(f PackFile) bool { return f.Number() == o.Number() && f.Hash() != "" }
		if !slices.ContainsFunc(list, closed) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b PackFile) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// OpenPacks returns the open packs that have committed bytes, by number.
func (s *Store) OpenPacks() (list []PackFile, err error) {
	for _, num := range s.packs.openNumbers() {
		rec, found, err := s.packRecord(num)
		if err != nil {
			return nil, err
		}
		if found && rec.end > 0 {
			list = append(list, PackFile{Name: openName(num), Size: rec.end})
		}
	}
	return list, nil
}

// OpenPackFile opens a file of PackFiles, of which the first size bytes are committed. If it does not exist (any more),
// the error is ErrNotFound. The caller closes it.
func (s *Store) OpenPackFile(name string) (f interface {
	io.ReaderAt
	io.Closer
}, size int64, err error) {
	p := PackFile{Name: name}
	if p.Number() == 0 || filepath.Base(name) != name {
		return nil, 0, fmt.Errorf("content: %w: pack %.80q", ErrNotFound, name)
	}
	if p.IsOpen() {
		rec, _, err := s.packRecord(p.Number())
		if err != nil {
			return nil, 0, err
		}
		size = rec.end
	}
	file, err := s.fs.OpenFile(filepath.Join(s.dir, name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("content: %w: pack %s", ErrNotFound, name)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("content: open pack: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	if !p.IsOpen() {
		size = info.Size()
	}
	return file, min(size, info.Size()), nil
}

// openNumbers returns the numbers of the open packs, ascending.
func (p *packs) openNumbers() (list []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for num, name := range p.name {
		if !isClosed(name) {
			list = append(list, num)
		}
	}
	slices.Sort(list)
	return list
}

// TruncateOpenPacks shortens the open packs in a directory to what a replica's database has committed: what is behind
// that may be torn by a power failure. It removes those without committed bytes, and unfinished files. Nothing may use
// the directory meanwhile.
func TruncateOpenPacks(fsys disk.FS, dir string, db *kv.DB) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("content: %w", err)
	}
	s := &Store{db: db}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		f := PackFile{Name: e.Name()}
		if strings.HasSuffix(f.Name, tempSuffix) {
			if err := fsys.Remove(path); err != nil {
				return fmt.Errorf("content: %w", err)
			}
		}
		if !f.IsOpen() || f.Number() == 0 {
			continue
		}
		rec, found, err := s.packRecord(f.Number())
		if err == nil && !found {
			err = fsys.Remove(path)
		} else if err == nil {
			err = truncateTo(fsys, path, rec.end)
		}
		if err != nil {
			return fmt.Errorf("content: pack %s: %w", f.Name, err)
		}
	}
	return nil
}

// truncateTo truncates a file that is longer than size.
func truncateTo(fsys disk.FS, path string, size int64) error {
	f, err := fsys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		if err = f.Truncate(size); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}
