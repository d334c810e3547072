package ocfl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"odarchive/crawler/exchange/preserve"
)

// The files beside the bytes of a version.
const (
	ownFolder   = "odarchive/"
	versionFile = ownFolder + "version.json"
	premisFile  = ownFolder + "premis.xml"
)

// maxInventories is the number of versions up to which each version has an inventory of its own. Inventories name
// everything that was before, so beyond it only the versions that end a run have one.
const maxInventories = 100

// object is an object that is being built.
type object struct {
	about    preserve.Object
	existing bool // there is one in its place
	had      int  // versions that it had
	dir      string
	inv      *inventory
	bad      bool // a version cannot be kept, so the object is not
	bytes    int64
}

// Begin implements preserve.Receiver.
func (r *Root) Begin(_ context.Context, o preserve.Object) error {
	r.current = nil
	if err := r.flushIf(o.URL); err != nil {
		return err
	}
	one := &object{about: o, dir: filepath.Join(r.staging, "new-"+hashOf(o.URL))}
	found, err := readOwn(filepath.Join(r.dir, pathOf(o.URL)), o.URL)
	if err != nil {
		return err
	}
	one.existing = found != nil
	if found != nil && !o.Anew {
		one.inv, one.had = found, len(found.Versions)
	}
	if one.inv == nil {
		one.inv = &inventory{ID: o.URL, Type: inventoryType, DigestAlgorithm: "sha512", ContentDirectory: contentDirectory,
			Manifest: map[string][]string{}, Versions: map[string]*block{}}
	}
	if one.inv.Fixity == nil {
		one.inv.Fixity = map[string]map[string][]string{}
	}
	r.current = one
	return nil
}

// Version implements preserve.Receiver. Versions must come in the order of their numbers, after those that the object
// has.
func (r *Root) Version(ctx context.Context, v preserve.Version, body io.Reader) error {
	one := r.current
	if one == nil || one.bad {
		return nil // End says why
	}
	err := one.add(ctx, r, v, body)
	if err != nil {
		one.bad = true
		if _, isBad := errors.AsType[*preserve.Bad](err); isBad {
			return preserve.Badf("version %d: %w", v.N, err)
		}
		return fmt.Errorf("ocfl: %s: version %d: %w", one.about.URL, v.N, err)
	}
	return nil
}

func (o *object) add(ctx context.Context, r *Root, v preserve.Version, body io.Reader) error {
	n := len(o.inv.Versions)
	switch {
	case v.N != n:
		return preserve.Badf("expected version %d: the object cannot leave versions out", n)
	case body == nil && v.Withdrawal == nil:
		return preserve.Badf("it has no bytes")
	}
	if n == o.had {
		if err := o.stage(r); err != nil {
			return err
		}
	}
	name := "v" + strconv.Itoa(n+1)
	b := &block{
		Created: v.Time.UTC().Format(time.RFC3339Nano), Message: message(v), User: &user{"ODArchive", r.Agent},
		State: map[string][]string{},
	}
	if body != nil {
		file := preserve.FileName(cmp.Or(v.FileName, path.Base(v.URL)))
		if file+"/" == ownFolder {
			file = "_" + file
		}
		if err := o.putBody(ctx, b, name, file, v, body); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := o.putText(b, name, versionFile, append(text, '\n')); err != nil {
		return err
	}
	if err := o.putText(b, name, premisFile, preserve.PREMIS(v, r.Agent)); err != nil {
		return err
	}
	o.inv.Versions[name], o.inv.Head = b, name
	if n+1 <= maxInventories {
		return o.writeInventory(filepath.Join(o.dir, name))
	}
	return nil
}

// message says in a sentence what a version is.
func message(v preserve.Version) string {
	if v.Withdrawal != nil {
		return "Version " + cmp.Or(v.IRI, strconv.Itoa(v.N)) + " without its bytes. " + v.Withdrawal.Sentence()
	}
	return "Version " + cmp.Or(v.IRI, strconv.Itoa(v.N)) + ", fetched from " + cmp.Or(v.FinalURL, v.URL)
}

// stage makes the folder in which the object is built, with the files that it has.
func (o *object) stage(r *Root) error {
	if err := os.RemoveAll(o.dir); err != nil {
		return err
	}
	if o.had > 0 {
		return linkTree(filepath.Join(r.dir, pathOf(o.about.URL)), o.dir)
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.dir, objectDeclaration), []byte(objectDeclaration[2:]+"\n"), 0o666)
}

// linkTree makes a copy of a tree, of the same files where the file system can. Inventories of the object root are left
// out: they will be others.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o777)
		case rel == inventoryName || rel == sidecarName:
			return nil
		case !d.Type().IsRegular():
			return preserve.Badf("%s is not a regular file", at)
		}
		if os.Link(at, target) == nil {
			return nil
		}
		return copyFile(at, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, syncFile(out), out.Close())
}

// putBody writes the bytes of a version, unless the object has them.
func (o *object) putBody(ctx context.Context, b *block, version, file string, v preserve.Version, body io.Reader) error {
	if digest, ok := o.digestOf(v.SHA256); ok {
		if _, err := io.Copy(io.Discard, &reader{ctx, body}); err != nil { // it must be what it is said to be, here too
			return err
		}
		b.State[digest] = append(b.State[digest], file)
		return nil
	}
	at := path.Join(version, contentDirectory, file)
	name := filepath.Join(o.dir, filepath.FromSlash(at))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	own, sum := sha512.New(), sha256.New()
	n, err := io.Copy(io.MultiWriter(out, own, sum), &reader{ctx, body})
	if err := errors.Join(err, syncFile(out), out.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); v.SHA256 != "" && got != v.SHA256 || v.Size >= 0 && n != v.Size {
		return preserve.Badf("its bytes are not those of its record: SHA-256 %s, %d bytes", got, n)
	}
	o.bytes += n
	digest := hex.EncodeToString(own.Sum(nil))
	o.addFixity("sha256", hex.EncodeToString(sum.Sum(nil)), at)
	return o.record(b, digest, at, file)
}

// record adds a content file to the manifest and to the state of a version. A file whose bytes the object has already
// is removed.
func (o *object) record(b *block, digest, at, logical string) error {
	b.State[digest] = append(b.State[digest], logical)
	if len(o.inv.Manifest[digest]) == 0 {
		o.inv.Manifest[digest] = []string{at}
		return nil
	}
	return os.Remove(filepath.Join(o.dir, filepath.FromSlash(at)))
}

// digestOf returns the SHA-512 of the bytes with a SHA-256 that the object has.
func (o *object) digestOf(sha256 string) (string, bool) {
	paths := o.inv.Fixity["sha256"][sha256]
	if sha256 == "" || len(paths) == 0 {
		return "", false
	}
	for digest, files := range o.inv.Manifest {
		for _, f := range files {
			if f == paths[0] {
				return digest, true
			}
		}
	}
	return "", false
}

func (o *object) addFixity(algorithm, digest, at string) {
	if o.inv.Fixity[algorithm] == nil {
		o.inv.Fixity[algorithm] = map[string][]string{}
	}
	o.inv.Fixity[algorithm][digest] = append(o.inv.Fixity[algorithm][digest], at)
}

// putText writes a small file of a version.
func (o *object) putText(b *block, version, logical string, text []byte) error {
	at := path.Join(version, contentDirectory, logical)
	name := filepath.Join(o.dir, filepath.FromSlash(at))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if err := writeFile(name, text); err != nil {
		return err
	}
	sum := sha512.Sum512(text)
	return o.record(b, hex.EncodeToString(sum[:]), at, logical)
}

func (o *object) writeInventory(dir string) error {
	text, err := o.inv.encode()
	if err != nil {
		return err
	}
	return errors.Join(writeFile(filepath.Join(dir, inventoryName), text), writeFile(filepath.Join(dir, sidecarName), sidecar(text)))
}

func writeFile(name string, text []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, syncFile(f), f.Close())
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
