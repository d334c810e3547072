package ocfl

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

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
