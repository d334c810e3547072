package ocfl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// checked is an object whose structure is sound.
type checked struct {
	*inventory
	files   map[string]bool       // content paths
	digests []map[string][]string // manifests of former versions with another digest algorithm
	kinds   []string              // their algorithms
	last    string                // type of the inventory of the version before
}

// check reads an object, and returns an error that says what is not as OCFL 1.0 or 1.1 demands. It reads no content
// files.
func (t tree) check(ctx context.Context, dir string) (*checked, error) {
	entries, err := t.list(dir)
	if err != nil {
		return nil, err
	}
	declared, err := t.declaration(dir)
	if err != nil {
		return nil, err
	}
	inv, text, err := t.inventory(dir, declared)
	if err != nil {
		return nil, err
	}
	if err := inv.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", inventoryName, err)
	}
	versions := map[string]bool{}
	for n := range len(inv.Versions) {
		versions[inv.directory(n+1)] = true
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "0=ocfl_object_"+declared, name == inventoryName, name == inventoryName+"."+inv.DigestAlgorithm:
			if !e.Type().IsRegular() {
				return nil, fmt.Errorf("%s is not a regular file", name)
			}
		case versions[name] && e.IsDir():
			delete(versions, name)
		case name == "logs" && e.IsDir():
		case name == extensionsDir && e.IsDir():
			if err := t.onlyFolders(path.Join(dir, name)); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%q is no part of an object", name)
		}
	}
	for name := range versions {
		return nil, fmt.Errorf("the folder of version %s is missing", name)
	}
	c := &checked{inventory: inv, files: map[string]bool{}}
	for n := range len(inv.Versions) {
		if err := t.versionFolder(ctx, dir, c, n+1, text); err != nil {
			return nil, err
		}
	}
	return c, c.compareFiles()
}

// declaration returns the version of OCFL that an object declares.
func (t tree) declaration(dir string) (string, error) {
	for _, v := range []string{"1.0", "1.1"} {
		text, err := t.read(path.Join(dir, "0=ocfl_object_"+v), 100)
		if err != nil {
			continue
		}
		if string(text) != "ocfl_object_"+v+"\n" {
			return "", fmt.Errorf("0=ocfl_object_%s has other content than its name says", v)
		}
		return v, nil
	}
	return "", errors.New("it does not declare OCFL 1.0 or 1.1")
}

// inventory reads an inventory and its sidecar.
func (t tree) inventory(dir, declared string) (*inventory, []byte, error) {
	text, err := t.read(path.Join(dir, inventoryName), maxInventory)
	if err != nil {
		return nil, nil, err
	}
	inv := &inventory{}
	if err := json.Unmarshal(text, inv); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inventoryName, err)
	}
	sum := newHash(inv.DigestAlgorithm)
	if sum == nil {
		return nil, nil, fmt.Errorf("%s: digest algorithm %.50q, expected sha512 or sha256", inventoryName, inv.DigestAlgorithm)
	}
	side, err := t.read(path.Join(dir, inventoryName+"."+inv.DigestAlgorithm), 1000)
	if err != nil {
		return nil, nil, err
	}
	sum.Write(text)
	fields := strings.Fields(string(side))
	if len(fields) != 2 || fields[1] != inventoryName {
		return nil, nil, fmt.Errorf("the sidecar of %s is malformed", inventoryName)
	}
	if !strings.EqualFold(fields[0], fmt.Sprintf("%x", sum.Sum(nil))) {
		return nil, nil, fmt.Errorf("%s does not have the digest of its sidecar", inventoryName)
	}
	if declared != "" && inv.Type != "https://ocfl.io/"+declared+"/spec/#inventory" {
		return nil, nil, fmt.Errorf("%s has the type %.100q, which is not that of OCFL %s", inventoryName, inv.Type, declared)
	}
	return inv, text, nil
}

func (t tree) onlyFolders(dir string) error {
	entries, err := t.list(dir)
	for _, e := range entries {
		if !e.IsDir() {
			return fmt.Errorf("%s has a file, %q", dir, e.Name())
		}
	}
	return err
}

// validate checks an inventory by itself (OCFL 1.1 §3.5).
func (v *inventory) validate() error {
	head, _, ok := versionNumber(v.Head)
	switch {
	case v.ID == "":
		return errors.New("it has no id")
	case !ok || len(v.Versions) != head || head > maxVersions:
		return fmt.Errorf("the head is %.20q, and there are %d versions", v.Head, len(v.Versions))
	case v.Manifest == nil:
		return errors.New("it has no manifest")
	case v.ContentDirectory == "." || v.ContentDirectory == ".." || strings.Contains(v.ContentDirectory, "/"):
		return fmt.Errorf("the content directory is %.100q", v.ContentDirectory)
	}
	used := map[string]bool{}
	for n := range head {
		name := v.directory(n + 1)
		b := v.Versions[name]
		if b == nil {
			return fmt.Errorf("version %s is missing", name)
		}
		if err := b.validate(v.Manifest, used); err != nil {
			return fmt.Errorf("version %s: %w", name, err)
		}
	}
	if err := checkDigests("manifest", v.Manifest); err != nil {
		return err
	}
	size := newHash(v.DigestAlgorithm).Size() * 2
	content := map[string]bool{}
	for digest, paths := range v.Manifest {
		if len(digest) != size {
			return fmt.Errorf("manifest: %.50q is no digest of %s", digest, v.DigestAlgorithm)
		}
		if !used[digest] {
			return fmt.Errorf("manifest: the files with the digest %.20s… are in no version", digest)
		}
		if len(paths) == 0 {
			return fmt.Errorf("manifest: there is no file with the digest %.20s…", digest)
		}
		for _, p := range paths {
			if err := v.checkContentPath(p); err != nil {
				return fmt.Errorf("manifest: %w", err)
			}
			if content[p] {
				return fmt.Errorf("manifest: %.200q is there twice", p)
			}
			content[p] = true
		}
	}
	if err := conflicts(content); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	for algorithm, digests := range v.Fixity {
		if err := checkDigests("fixity", digests); err != nil {
			return err
		}
		for _, paths := range digests {
			for _, p := range paths {
				if !content[p] {
					return fmt.Errorf("fixity %.20s: %.200q is not in the manifest", algorithm, p)
				}
			}
		}
	}
	return nil
}

// validate checks a version block. It notes the digests that its state uses.
func (b *block) validate(manifest map[string][]string, used map[string]bool) error {
	if _, err := time.Parse(time.RFC3339, b.Created); err != nil {
		return fmt.Errorf("created: %w", err)
	}
	if b.State == nil {
		return errors.New("it has no state")
	}
	if b.User != nil && b.User.Name == "" {
		return errors.New("its user has no name")
	}
	logical := map[string]bool{}
	for digest, paths := range b.State {
		if manifest[digest] == nil {
			return fmt.Errorf("the digest %.20s… is not in the manifest", digest)
		}
		used[digest] = true
		for _, p := range paths {
			if !isPath(p) {
				return fmt.Errorf("logical path %.200q", p)
			}
			if logical[p] {
				return fmt.Errorf("the logical path %.200q is there twice", p)
			}
			logical[p] = true
		}
	}
	return conflicts(logical)
}

// checkDigests returns an error if two digests differ in case only.
func checkDigests(where string, digests map[string][]string) error {
	seen := map[string]bool{}
	for d := range digests {
		lower := strings.ToLower(d)
		if seen[lower] {
			return fmt.Errorf("%s: the digest %.20s… is there twice", where, d)
		}
		seen[lower] = true
	}
	return nil
}

// conflicts returns an error if a path is also a folder of another.
func conflicts(paths map[string]bool) error {
	for p := range paths {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if paths[dir] {
				return fmt.Errorf("%.200q is a file and a folder", dir)
			}
		}
	}
	return nil
}

// checkContentPath checks a path of the manifest: it is in the content folder of a version.
func (v *inventory) checkContentPath(p string) error {
	if !isPath(p) {
		return fmt.Errorf("content path %.200q", p)
	}
	name, rest, _ := strings.Cut(p, "/")
	if v.Versions[name] == nil || !strings.HasPrefix(rest, v.contentDir()+"/") {
		return fmt.Errorf("content path %.200q is in no content folder", p)
	}
	return nil
}

// versionFolder checks the folder of a version, and notes its content files. head is the inventory of the object.
func (t tree) versionFolder(ctx context.Context, dir string, c *checked, n int, head []byte) error {
	name := c.directory(n)
	entries, err := t.list(path.Join(dir, name))
	if err != nil {
		return err
	}
	hasInventory, sidecars := false, 0
	for _, e := range entries {
		switch {
		case e.Name() == inventoryName:
			hasInventory = true
		case strings.HasPrefix(e.Name(), inventoryName+"."):
			sidecars++
		case e.Name() == c.contentDir() && e.IsDir():
			files, empty, err := t.files(ctx, dir, path.Join(name, e.Name()))
			if err != nil {
				return err
			}
			if len(empty) > 0 && len(files) > 0 {
				return fmt.Errorf("the folder %s is empty", empty[0])
			}
			maps.Copy(c.files, files)
		case !e.IsDir():
			return fmt.Errorf("%s/%s is no part of an object", name, e.Name())
		}
	}
	if !hasInventory {
		if sidecars > 0 {
			return fmt.Errorf("%s has a sidecar without an inventory", name)
		}
		return nil
	}
	own, text, err := t.inventory(path.Join(dir, name), "")
	if err == nil {
		err = own.validate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n == len(c.Versions) && !bytes.Equal(text, head) {
		return fmt.Errorf("the inventory of %s is not that of the object", name)
	}
	return c.compareWith(own, n)
}

// compareWith compares the inventory of version n with that of the object (§3.5.3.2).
func (c *checked) compareWith(own *inventory, n int) error {
	name := c.directory(n)
	switch {
	case own.ID != c.ID:
		return fmt.Errorf("%s has the id %.200q, the object %.200q", name, own.ID, c.ID)
	case own.Head != name:
		return fmt.Errorf("the inventory in %s is that of %.20s", name, own.Head)
	case own.contentDir() != c.contentDir():
		return fmt.Errorf("%s has the content directory %q, the object %q", name, own.contentDir(), c.contentDir())
	case own.Type > c.Type || own.Type < c.last: // they differ in the number only
		return fmt.Errorf("%s has the type %.100q, which is not between those of the versions around it", name, own.Type)
	}
	c.last = own.Type
	listed := map[string]bool{}
	for _, paths := range own.Manifest {
		for _, p := range paths {
			listed[p] = true
		}
	}
	for p := range c.files { // those of this version and of former ones
		if !listed[p] {
			return fmt.Errorf("the manifest in %s does not have %.200q", name, p)
		}
	}
	if own.DigestAlgorithm != c.DigestAlgorithm {
		c.digests, c.kinds = append(c.digests, own.Manifest), append(c.kinds, own.DigestAlgorithm)
	}
	for i := range n {
		at := c.directory(i + 1)
		if err := sameState(own, c.inventory, at); err != nil {
			return fmt.Errorf("%s describes %s otherwise than the object: %w", name, at, err)
		}
	}
	return nil
}

// sameState compares what two inventories say of a version: each logical path must be the same bytes, by the digest, or
// by a content file if the algorithms differ.
func sameState(a, b *inventory, version string) error {
	x, y := logicalPaths(a.Versions[version]), logicalPaths(b.Versions[version])
	if len(x) != len(y) {
		return errors.New("it has other files")
	}
	for p, digest := range x {
		other, ok := y[p]
		if !ok {
			return fmt.Errorf("%.200q", p)
		}
		if a.DigestAlgorithm == b.DigestAlgorithm {
			ok = strings.EqualFold(digest, other)
			if ok { // each content file of the former inventory must be one of the later
				for _, file := range a.Manifest[digest] {
					ok = ok && slices.Contains(b.Manifest[other], file)
				}
			}
		} else {
			ok = slices.ContainsFunc(a.Manifest[digest], func(file string) bool { return slices.Contains(b.Manifest[other], file) })
		}
		if !ok {
			return fmt.Errorf("%.200q", p)
		}
	}
	return nil
}

func logicalPaths(b *block) map[string]string {
	all := map[string]string{}
	for digest, paths := range b.State {
		for _, p := range paths {
			all[p] = digest
		}
	}
	return all
}

// compareFiles compares the content files with the manifest.
func (c *checked) compareFiles() error {
	listed := 0
	for _, paths := range c.Manifest {
		for _, p := range paths {
			if !c.files[p] {
				return fmt.Errorf("%.200q is in the manifest, but not there", p)
			}
			listed++
		}
	}
	if listed == len(c.files) {
		return nil
	}
	manifest := map[string]bool{}
	for _, paths := range c.Manifest {
		for _, p := range paths {
			manifest[p] = true
		}
	}
	for p := range c.files {
		if !manifest[p] {
			return fmt.Errorf("%.200q is not in the manifest", p)
		}
	}
	return nil
}
