package ocfl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The layout of a root is that of the community extension 0003, with its defaults: an object's folder has the id as its
// name, percent-encoded, below folders of the first three times three digits of the SHA-256 of the id.
const (
	layoutName        = "0003-hash-and-id-n-tuple-storage-layout"
	layoutFile        = "ocfl_layout.json"
	extensionsDir     = "extensions"
	tupleSize, tuples = 3, 3
)

type layoutDocument struct {
	Extension   string `json:"extension"`
	Description string `json:"description"`
}

type layoutConfig struct {
	Extension       string `json:"extensionName"`
	DigestAlgorithm string `json:"digestAlgorithm"`
	TupleSize       int    `json:"tupleSize"`
	NumberOfTuples  int    `json:"numberOfTuples"`
}

func ourLayout() layoutConfig { return layoutConfig{layoutName, "sha256", tupleSize, tuples} }

// hashOf returns the SHA-256 of an object's id.
func hashOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// maxEncoded is the number of characters from which on an encoded id is cut, and the hash put behind it.
const maxEncoded = 100

// pathOf returns where the object with an id is, relative to the root.
func pathOf(id string) string {
	hash := hashOf(id)
	parts := make([]string, 0, tuples+1)
	for i := range tuples {
		parts = append(parts, hash[i*tupleSize:(i+1)*tupleSize])
	}
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02x", c)
		}
	}
	encoded := name.String()
	if len(encoded) > maxEncoded {
		encoded = encoded[:maxEncoded] + "-" + hash
	}
	return filepath.Join(append(parts, encoded)...)
}

// writeSkeleton writes a root without objects into an empty folder.
func writeSkeleton(dir string) error {
	layout, err := json.MarshalIndent(layoutDocument{layoutName,
		"Folders named by the object's id, percent-encoded, below three folders of three digits of its SHA-256"}, "", "  ")
	if err != nil {
		return err
	}
	config, err := json.MarshalIndent(ourLayout(), "", "  ")
	if err != nil {
		return err
	}
	at := filepath.Join(dir, extensionsDir, layoutName)
	if err := os.MkdirAll(at, 0o777); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		filepath.Join(at, "config.json"):    config,
		filepath.Join(dir, layoutFile):      layout,
		filepath.Join(dir, rootDeclaration): []byte(rootDeclaration[2:]),
	} {
		if err := os.WriteFile(name, append(text, '\n'), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// checkRoot returns an error unless a folder is a root whose layout this program writes.
func checkRoot(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, rootDeclaration)); err != nil {
		if os.IsNotExist(err) {
			return fmt.Errorf("%s is neither empty nor an OCFL 1.1 storage root: it has no file %s", dir, rootDeclaration)
		}
		return err
	}
	var layout layoutDocument
	if err := readJSON(filepath.Join(dir, layoutFile), &layout); err != nil {
		return fmt.Errorf("the layout of the storage root: %w", err)
	}
	if layout.Extension != layoutName {
		return fmt.Errorf("the storage root %s has the layout %.100q; this program adds to roots with the layout %s only", dir,
			layout.Extension, layoutName)
	}
	config := ourLayout() // its fields are the defaults of the extension, too
	err := readJSON(filepath.Join(dir, extensionsDir, layoutName, "config.json"), &config)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the layout of the storage root: %w", err)
	}
	if config != ourLayout() {
		return fmt.Errorf("the storage root %s has the layout %s with other settings than this program writes", dir, layoutName)
	}
	return nil
}

// maxConfig bounds the configuration of a root in bytes.
const maxConfig = 1 << 20

func readJSON(name string, value any) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
