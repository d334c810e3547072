package ocfl

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/exchange/preserve"
)

// Read reads the objects of a storage root, or the object that a folder is, into to. The structure of an object and the
// digests of all its files are checked before anything is received of it. A faulty object is refused as a whole, except
// that of one whose files are damaged the versions without these are received. bad is called for each fault.
//
// Objects of this program are files of the web again. In objects of others, each logical path is a file, whose address
// is by preserve.Address; base may be "". Files of more than max bytes are damaged, whatever they are. Each content
// that it had is a version, of the time when the object's version was created.
func Read(ctx context.Context, dir, base string, max int64, to preserve.Receiver, bad func(error)) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	t := tree{root, max}
	found := 0
	err = t.objects(ctx, func(at string) error {
		found++
		return t.readObject(ctx, at, base, to, func(err error) { bad(fmt.Errorf("%s: %w", path.Join(dir, at), err)) })
	}, func(what string) { bad(errors.New(what)) })
	if err == nil && found == 0 {
		if _, there := root.Lstat(rootDeclaration); there != nil {
			return fmt.Errorf("%s is no OCFL storage root: it has no file %s, and no objects", dir, rootDeclaration)
		}
	}
	return err
}

func (t tree) readObject(ctx context.Context, dir, base string, to preserve.Receiver, bad func(error)) error {
	c, err := t.check(ctx, dir)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		bad(err)
		return nil
	}
	o := &reading{tree: t, dir: dir, checked: c, damaged: map[string]bool{}, bad: bad, to: to, want: c.expectations()}
	if err := o.checkDigests(ctx); err != nil {
		return err
	}
	if o.isOwn() {
		return o.sendOwn(ctx)
	}
	return o.sendOthers(ctx, base)
}

// reading is an object that is read.
type reading struct {
	tree
	*checked
	dir     string
	want    map[string]expected // digests, by content path
	damaged map[string]bool     // content paths whose bytes have others
	bad     func(error)
	to      preserve.Receiver
}

// hashes returns new hash functions for the algorithms of fixity blocks that this program knows.
func hashes(algorithms []string) map[string]hash.Hash {
	all := map[string]hash.Hash{}
	for _, a := range algorithms {
		switch strings.ToLower(a) {
		case "md5":
			all[a] = md5.New()
		case "sha1":
			all[a] = sha1.New()
		case "sha256":
			all[a] = sha256.New()
		case "sha512":
			all[a] = sha512.New()
		case "sha512/256":
			all[a] = sha512.New512_256()
		}
	}
	return all
}

// expected are the digests that an inventory states of a content file, by algorithm.
type expected map[string]string

// expectations returns the digests of all content files.
func (o *checked) expectations() map[string]expected {
	all := map[string]expected{}
	add := func(algorithm string, digests map[string][]string) {
		for digest, paths := range digests {
			for _, p := range paths {
				if all[p] == nil {
					all[p] = expected{}
				}
				all[p][algorithm] = strings.ToLower(digest)
			}
		}
	}
	for algorithm, digests := range o.Fixity {
		add(algorithm, digests)
	}
	for i, digests := range o.digests {
		add(o.kinds[i], digests)
	}
	add(o.DigestAlgorithm, o.Manifest)
	return all
}

// checkDigests reads all content files, and notes those that are not what the inventory says.
func (o *reading) checkDigests(ctx context.Context) error {
	for p, want := range o.want {
		body, err := o.open(ctx, p, want)
		if err == nil {
			_, err = io.Copy(io.Discard, body)
			err = errors.Join(err, body.Close())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			o.damaged[p] = true
			o.bad(fmt.Errorf("%s: %w", p, err))
		}
	}
	return nil
}

// checking reads a file. At its end, the error is a *preserve.Bad if a digest is another than expected.
type checking struct {
	file *os.File
	in   io.Reader
	sums map[string]hash.Hash
	want expected
}

func (o *reading) open(ctx context.Context, name string, want expected) (*checking, error) {
	f, err := o.root.Open(path.Join(o.dir, name))
	if err != nil {
		return nil, &preserve.Bad{Err: err}
	}
	if info, err := f.Stat(); err != nil || info.Size() > o.max {
		return nil, errors.Join(preserve.Badf("it has more than %d bytes", o.max), err, f.Close())
	}
	algorithms := make([]string, 0, len(want))
	for a := range want {
		algorithms = append(algorithms, a)
	}
	return &checking{f, &reader{ctx, f}, hashes(algorithms), want}, nil
}

func (c *checking) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	for _, sum := range c.sums {
		sum.Write(p[:n])
	}
	if errors.Is(err, io.EOF) {
		for algorithm, sum := range c.sums {
			if got := hex.EncodeToString(sum.Sum(nil)); got != c.want[algorithm] {
				return n, preserve.Badf("its %s is %.16s…, expected %.16s…", algorithm, got, c.want[algorithm])
			}
		}
	} else if err != nil && !errors.Is(err, context.Canceled) {
		err = &preserve.Bad{Err: err}
	}
	return n, err
}

func (c *checking) Close() error { return c.file.Close() }

// isOwn reports whether this program wrote the object.
func (o *reading) isOwn() bool {
	for n := range len(o.Versions) {
		if _, ok := logicalPaths(o.Versions[o.directory(n+1)])[versionFile]; !ok {
			return false
		}
	}
	return true
}

// maxDescription bounds the description of a version, in bytes.
const maxDescription = 16 << 20

// describe reads the description of version n, counted from 1. files are its logical paths.
func (o *reading) describe(n int, files map[string]string) (v preserve.Version, err error) {
	at := o.Manifest[files[versionFile]][0]
	if o.damaged[at] {
		return v, errors.New("its description is damaged")
	}
	text, err := o.read(path.Join(o.dir, at), maxDescription)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err == nil && (v.N != n-1 || v.URL != o.ID) {
		err = fmt.Errorf("its description is that of version %d of %.200q", v.N, v.URL)
	}
	return v, err
}

// sendOwn receives an object of this program.
func (o *reading) sendOwn(ctx context.Context) error {
	begun := false
	for n := 1; n <= len(o.Versions); n++ {
		files := logicalPaths(o.Versions[o.directory(n)])
		v, err := o.describe(n, files)
		if err != nil {
			o.bad(fmt.Errorf("version v%d: %w", n, err))
			continue
		}
		if !begun {
			begun = true
			if err := o.to.Begin(ctx, preserve.Object{URL: v.URL, Title: v.Title, Format: v.Format, Sources: v.Sources}); err != nil {
				return o.refused(err)
			}
		}
		var payload []string
		for p := range files {
			if !strings.HasPrefix(p, ownFolder) {
				payload = append(payload, p)
			}
		}
		switch {
		case len(payload) == 0 && v.Withdrawal != nil:
			err = o.to.Version(ctx, v, nil)
		case len(payload) != 1:
			err = preserve.Badf("it has %d files", len(payload))
		default:
			err = o.send(ctx, v, o.Manifest[files[payload[0]]])
		}
		if err := o.refused(err); err != nil {
			return err
		}
	}
	if !begun {
		return nil
	}
	return o.refused(o.to.End(ctx))
}

// send receives a version whose bytes are in any of some content files.
func (o *reading) send(ctx context.Context, v preserve.Version, files []string) error {
	sound := slices.IndexFunc(files, func(p string) bool { return !o.damaged[p] })
	if sound < 0 {
		return preserve.Badf("version %d: its bytes are damaged", v.N)
	}
	body, err := o.open(ctx, files[sound], o.want[files[sound]])
	if err != nil {
		return err
	}
	return errors.Join(o.to.Version(ctx, v, body), body.Close())
}

// refused reports an error of one version or file, and returns others.
func (o *reading) refused(err error) error {
	if _, is := errors.AsType[*preserve.Bad](err); is {
		o.bad(err)
		return nil
	}
	return err
}

// state is what a file of an object is from one of its versions on.
type state struct {
	since  *block
	digest string
}

// sendOthers receives an object of another program.
func (o *reading) sendOthers(ctx context.Context, base string) error {
	states := map[string][]state{} // by logical path; those that changed, and the last one, which says that nothing has changed since
	for n := range len(o.Versions) {
		b := o.Versions[o.directory(n+1)]
		for p, digest := range logicalPaths(b) {
			if all := states[p]; len(all) == 0 || all[len(all)-1].digest != digest || n == len(o.Versions)-1 {
				states[p] = append(all, state{b, digest})
			}
		}
	}
	names := slices.Sorted(maps.Keys(states))
	for _, p := range names {
		url := preserve.Address(base, o.ID, p, len(names) == 1)
		if err := o.to.Begin(ctx, preserve.Object{URL: url}); err != nil {
			if err := o.refused(err); err != nil {
				return err
			}
			continue
		}
		latest := time.Time{}
		for number, one := range states[p] {
			at, err := one.since.created()
			if err != nil { // validate has read it
				return err
			}
			if !at.After(latest) { // versions of one moment must not change places, however often they are imported
				at = latest.Add(time.Millisecond)
			}
			latest = at
			v := preserve.Version{URL: url, N: number, Time: at.UTC(), FileName: path.Base(p), Size: -1}
			if o.DigestAlgorithm == "sha256" {
				v.SHA256 = strings.ToLower(one.digest)
			}
			if err := o.refused(o.send(ctx, v, o.Manifest[one.digest])); err != nil {
				return err
			}
		}
		if err := o.refused(o.to.End(ctx)); err != nil {
			return err
		}
	}
	return nil
}
