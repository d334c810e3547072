package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file of a package: data, or what stands at path.
type file struct {
	data []byte
	path string
	mode fs.FileMode // 0 for 0644
}

func (f file) permissions() fs.FileMode {
	if f.mode == 0 {
		return 0o644
	}
	return f.mode
}

func (f file) read() ([]byte, error) {
	if f.path == "" {
		return f.data, nil
	}
	return os.ReadFile(f.path)
}

// tree is the files of a package by their slash-separated paths.
type tree map[string]file

func (t tree) with(name string, f file) tree {
	t = maps.Clone(t)
	t[name] = f
	return t
}

// without returns the tree without what is below a folder.
func (t tree) without(folder string) tree {
	t = maps.Clone(t)
	maps.DeleteFunc(t, func(name string, _ file) bool { return strings.HasPrefix(name, folder) })
	return t
}

// below returns the tree in a folder.
func (t tree) below(folder string) tree {
	moved := tree{}
	for name, f := range t {
		moved[path.Join(folder, name)] = f
	}
	return moved
}

// add adds the files of a folder of the machine.
func (t tree) add(folder, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		t[path.Join(folder, filepath.ToSlash(rel))] = file{path: name}
		return nil
	})
}

// writeTarball writes the files as a .tar.gz, in the order of their names, owned by root, all of one time.
func (t tree) writeTarball(name string, at time.Time) (err error) {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(compressed)
	made := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if err := writeFolders(w, path.Dir(name), at, made); err != nil {
			return err
		}
		data, err := t[name].read()
		if err != nil {
			return err
		}
		head := &tar.Header{Name: name, Mode: int64(t[name].permissions()), Size: int64(len(data)), ModTime: at, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(head); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.Write(data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

// writeFolders writes a folder, and those that it is in, that have not been made yet.
func writeFolders(w *tar.Writer, folder string, at time.Time, made map[string]bool) error {
	if folder == "." || folder == "/" || made[folder] {
		return nil
	}
	if err := writeFolders(w, path.Dir(folder), at, made); err != nil {
		return err
	}
	made[folder] = true
	return w.WriteHeader(&tar.Header{Name: folder + "/", Mode: 0o755, ModTime: at, Typeflag: tar.TypeDir, Format: tar.FormatUSTAR,
		Uname: "root", Gname: "root"})
}

// writeTo writes the files below a folder of the machine, all of one time.
func (t tree) writeTo(folder string, at time.Time) error {
	for name, f := range t {
		data, err := f.read()
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, f.permissions()); err != nil {
			return err
		}
		if err := os.Chtimes(to, at, at); err != nil {
			return err
		}
	}
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chtimes(name, at, at)
	})
}

// zipped returns a file compressed as manual pages and changelogs are in packages.
func (f file) zipped() (file, error) {
	data, err := f.read()
	if err != nil {
		return file{}, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return file{}, err
	}
	if _, err := w.Write(data); err != nil {
		return file{}, err
	}
	if err := w.Close(); err != nil {
		return file{}, err
	}
	return file{data: b.Bytes()}, nil
}

// sumsName is the name of the file of checksums, as sha256sum writes and reads it.
const sumsName = "SHA256SUMS"

// packages returns the names of the packages in a directory, as the release writes them, in order.
func packages(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "odarchive_") &&
			(strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".deb") || strings.HasSuffix(name, ".cdx.json") ||
				strings.HasSuffix(name, imageSuffix)) {
			names = append(names, name)
		}
	}
	return names, err
}

// removeOld removes what a former release wrote to a directory, and nothing else.
func removeOld(dir string) error {
	names, err := packages(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range append(names, sumsName) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(dir, ".work"))
}

// writeSums writes the checksums of all packages.
func writeSums(dir string) error {
	names, err := packages(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", h.Sum(nil), name)
	}
	return os.WriteFile(filepath.Join(dir, sumsName), []byte(b.String()), 0o644)
}
