package bagit

import (
	"archive/zip"
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/crawler/exchange/preserve"
)

// container is where the files of a bag go.
type container interface {
	// put adds a file. If reading fails, or end, which is called behind the last byte, the file is not added.
	put(name string, at time.Time, in io.Reader, end func() error) error
	// folder makes an empty folder.
	folder(name string) error
	close() error
	abandon() error
}

// create returns a container for a file or folder that does not exist. It has another name until it is complete.
func create(name, temp string) (container, error) {
	name = filepath.Clean(name)
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s exists: a bag is written once", name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	base := filepath.Base(name)
	part := filepath.Join(filepath.Dir(name), "."+base+"-"+rand.Text()[:8])
	if !strings.EqualFold(filepath.Ext(name), ".zip") {
		if err := os.Mkdir(part, 0o777); err != nil {
			return nil, err
		}
		return &folder{part: part, name: name}, nil
	}
	f, err := os.Create(part)
	if err != nil {
		return nil, err
	}
	z := newZip(f, base[:len(base)-len(".zip")], temp)
	return &zipFile{zipped: z, file: f, name: name}, nil
}

// folder is a bag as a folder.
type folder struct{ part, name string }

func (d *folder) put(name string, at time.Time, in io.Reader, end func() error) error {
	target := filepath.Join(d.part, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if err == nil {
		err = end()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(target))
	}
	return os.Chtimes(target, at, at)
}

func (d *folder) folder(name string) error { return os.MkdirAll(filepath.Join(d.part, name), 0o777) }

func (d *folder) close() error {
	err := preserve.SyncTree(d.part)
	if err == nil {
		err = os.Rename(d.part, d.name)
	}
	if err != nil {
		return errors.Join(err, d.abandon())
	}
	return nil
}

func (d *folder) abandon() error { return os.RemoveAll(d.part) }

// zipped is a bag as a zip, which has one folder (RFC 8493 §4).
type zipped struct {
	out  *bufio.Writer
	zip  *zip.Writer
	top  string
	temp string
}

// newZip returns a container that writes a zip with the folder top.
func newZip(w io.Writer, top, temp string) *zipped {
	out := bufio.NewWriterSize(w, 256<<10)
	return &zipped{out, zip.NewWriter(out), top, temp}
}

// put reads a file to its end before anything of it is in the zip, from which nothing can be removed.
func (z *zipped) put(name string, at time.Time, in io.Reader, end func() error) error {
	t, err := newTemporary(z.temp)
	if err != nil {
		return err
	}
	defer t.remove()
	if _, err := io.Copy(t, in); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	all, err := t.reader()
	if err != nil {
		return err
	}
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: z.top + "/" + name, Method: zip.Deflate, Modified: at})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, all)
	return err
}

func (z *zipped) folder(name string) error {
	_, err := z.zip.Create(z.top + "/" + name + "/")
	return err
}

func (z *zipped) close() error { return errors.Join(z.zip.Close(), z.out.Flush()) }

func (z *zipped) abandon() error { return nil } // what was written has no end, so nobody takes it for a zip

// zipFile is a zip in a file.
type zipFile struct {
	*zipped
	file *os.File
	name string
}

func (z *zipFile) close() error {
	err := z.zipped.close()
	if err == nil {
		err = z.file.Sync()
	}
	if err = errors.Join(err, z.file.Close()); err == nil {
		err = os.Rename(z.file.Name(), z.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(z.file.Name()))
	}
	return nil
}

func (z *zipFile) abandon() error { return errors.Join(z.file.Close(), os.Remove(z.file.Name())) }
