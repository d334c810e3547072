package ocfl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
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
