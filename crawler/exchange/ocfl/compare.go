package ocfl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
