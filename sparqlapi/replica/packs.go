package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/replicate"
	"odarchive/triplestore/bucket/tier"
	"odarchive/triplestore/disk"
)

// mirror copies the writer's packs. Only one goroutine uses it.
type mirror struct {
	dir    string
	fs     disk.FS
	client *client
	room   func(bytes int64) error // kv.ErrDiskFull if files of so many bytes are too much for the disk
	bucket *tier.FS                // has the closed packs that the writer keeps in a bucket; nil if all packs are copied

	set   string              // that was copied last
	gone  []string            // files that the writer does not have any more, and that older states may need
	lacks bool                // a file of the set was gone before it was copied
	grown map[string]openPack // open packs, by name
}

// openPack is the copy of an open pack. Its bytes up to size are durable.
type openPack struct {
	f    disk.File
	size int64
}

const tempSuffix = ".new"

// catchUp copies what is missing: afterwards every byte that the records before end name is here and durable.
func (m *mirror) catchUp(ctx context.Context, end replicate.End) error {
	if end.Set != m.set {
		if err := m.copySet(ctx); err != nil {
			return err
		}
	}
	for _, f := range end.Open {
		if err := m.grow(ctx, f); err != nil && !errors.Is(err, errGone) { // closed since: then the next set has it
			return err
		} else if err != nil {
			return m.copySet(ctx)
		}
	}
	return nil
}

// copySet copies all files that are missing. What fails to arrive because it is gone makes lacks true.
func (m *mirror) copySet(ctx context.Context) error {
	stored := m.refresh(ctx) // before the list, which has all of it unless it was removed
	list, err := m.client.packs(ctx)
	if err != nil {
		return err
	}
	if err := disk.MakeDir(m.fs, m.dir, 0o755); err != nil {
		return err
	}
	here, err := m.here()
	if err != nil {
		return err
	}
	m.lacks = false
	wanted := map[string]bool{}
	for _, f := range list.Files {
		if f.Number() == 0 || f.Name != filepath.Base(f.Name) || strings.HasSuffix(f.Name, tempSuffix) {
			return fmt.Errorf("%w: a pack named %.80q", replicate.ErrWire, f.Name)
		}
		wanted[f.Name] = true
		switch {
		case f.IsOpen():
			err = m.grow(ctx, f)
		case m.isStored(f):
			err = m.leave(f)
		case here[f.Name]:
			continue
		default:
			err = m.copyClosed(ctx, f)
		}
		if errors.Is(err, errGone) {
			m.lacks = true
			continue
		}
		if err != nil {
			return err
		}
	}
	m.gone = m.gone[:0]
	for name := range here {
		if !wanted[name] {
			m.gone = append(m.gone, name)
		}
	}
	for _, name := range stored {
		if !wanted[name] && !here[name] {
			m.gone = append(m.gone, name)
		}
	}
	if m.set = list.Set; m.lacks {
		m.set = ""
	}
	return nil
}

// here returns the names of the files that are here.
func (m *mirror) here() (map[string]bool, error) {
	entries, err := m.fs.ReadDir(m.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		if (content.PackFile{Name: e.Name()}).Number() > 0 {
			names[e.Name()] = true
		}
	}
	return names, nil
}

// grow copies what an open pack has beyond its copy.
func (m *mirror) grow(ctx context.Context, f content.PackFile) error {
	if !f.IsOpen() {
		return fmt.Errorf("%w: %.80q is no open pack", replicate.ErrWire, f.Name)
	}
	o, ok := m.grown[f.Name]
	if !ok {
		file, err := m.fs.OpenFile(filepath.Join(m.dir, f.Name), os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err == nil {
			err = m.fs.SyncDir(m.dir)
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		o = openPack{file, info.Size()}
		m.grown[f.Name] = o
	}
	if o.size >= f.Size {
		return nil
	}
	if err := m.room(f.Size - o.size); err != nil {
		return err
	}
	body, err := m.client.pack(ctx, f.Name, o.size, f.Size)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(&writerAt{o.f, o.size}, io.LimitReader(body, f.Size-o.size))
	if err == nil && n < f.Size-o.size {
		err = fmt.Errorf("%s: %w", f.Name, io.ErrUnexpectedEOF)
	}
	if err == nil {
		err = o.f.Sync()
	}
	if err != nil {
		return errors.Join(err, m.forget(f.Name)) // and begin again at the size of the file that is durable
	}
	o.size = f.Size
	m.grown[f.Name] = o
	return nil
}

// forget closes the copy of an open pack and truncates it to what is durable.
func (m *mirror) forget(name string) error {
	o, ok := m.grown[name]
	if !ok {
		return nil
	}
	delete(m.grown, name)
	return errors.Join(o.f.Truncate(o.size), o.f.Close())
}

// copyClosed copies a closed pack or parity file. A pack that was open here is completed. The bytes of packs are
// compared with the hash in their names.
func (m *mirror) copyClosed(ctx context.Context, f content.PackFile) error {
	path := filepath.Join(m.dir, f.Name)
	if f.Hash() != "" {
		open := openNameOf(f.Number())
		if err := m.forget(open); err != nil {
			return err
		}
		from := filepath.Join(m.dir, open)
		if _, err := m.fs.Stat(from); err == nil {
			err := m.complete(ctx, f, from)
			if err == nil || !errors.Is(err, errDiffers) {
				return err
			}
			if err := m.fs.Remove(from); err != nil {
				return err
			}
		}
	}
	return m.fetchNew(ctx, f, path)
}

// fetchNew copies a closed file. What has arrived of one that fails is removed: the writer may purge it before the next
// attempt.
func (m *mirror) fetchNew(ctx context.Context, f content.PackFile, path string) error {
	if err := m.fetch(ctx, f, path+tempSuffix, 0); err != nil {
		if gone := m.fs.Remove(path + tempSuffix); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	return m.publish(path+tempSuffix, path)
}

// removeTemps removes what a process that was killed had copied of files: the writer may have purged them since.
func (m *mirror) removeTemps() error {
	entries, err := m.fs.ReadDir(m.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tempSuffix) {
			err = errors.Join(err, m.fs.Remove(filepath.Join(m.dir, e.Name())))
		}
	}
	return err
}

var errDiffers = errors.New("the bytes differ from the hash in the name")

// complete completes a copy of an open pack that is closed now, and gives it its name.
func (m *mirror) complete(ctx context.Context, f content.PackFile, path string) error {
	info, err := m.fs.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > f.Size {
		return errDiffers
	}
	if err := m.fetch(ctx, f, path, info.Size()); err != nil {
		return err
	}
	return m.publish(path, filepath.Join(m.dir, f.Name))
}

// fetch copies the bytes of a closed file from an offset on, and checks all of it.
func (m *mirror) fetch(ctx context.Context, f content.PackFile, path string, from int64) (err error) {
	if err := m.room(max(0, f.Size-from)); err != nil {
		return err
	}
	flags := os.O_RDWR | os.O_CREATE
	if from == 0 {
		flags |= os.O_TRUNC
	}
	file, err := m.fs.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if from < f.Size {
		body, err := m.client.pack(ctx, f.Name, from, f.Size)
		if err != nil {
			return err
		}
		defer body.Close()
		n, err := io.Copy(&writerAt{file, from}, io.LimitReader(body, f.Size-from))
		if err == nil && n < f.Size-from {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if hash := f.Hash(); hash != "" {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(file, 0, f.Size)); err != nil {
			return err
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil)); !strings.HasPrefix(got, hash) {
			return fmt.Errorf("%s: %w", f.Name, errDiffers)
		}
	}
	return file.Sync()
}

func (m *mirror) publish(from, to string) error {
	if err := m.fs.Rename(from, to); err != nil {
		return err
	}
	return m.fs.SyncDir(m.dir)
}

// removeGone removes the files that the writer did not have any more at the last copySet. No state that is served may
// need them.
func (m *mirror) removeGone() error {
	for len(m.gone) > 0 {
		name := m.gone[0]
		if err := m.forget(name); err != nil {
			return err
		}
		if err := m.fs.Remove(filepath.Join(m.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if m.bucket != nil {
			m.bucket.Forget(name)
		}
		m.gone = m.gone[1:]
	}
	return nil
}

// close closes the copies of open packs.
func (m *mirror) close() (err error) {
	for name := range m.grown {
		err = errors.Join(err, m.forget(name))
	}
	m.set = ""
	return err
}

func openNameOf(num uint64) string { return fmt.Sprintf("%012d.open", num) }

// writerAt writes to a file from an offset on.
type writerAt struct {
	f  disk.File
	at int64
}

func (w *writerAt) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(p, w.at)
	w.at += int64(n)
	return n, err
}
