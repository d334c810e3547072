package ocfl

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// inventory is the inventory of an object (OCFL 1.1 §3.5).
type inventory struct {
	ID               string                         `json:"id"`
	Type             string                         `json:"type"`
	DigestAlgorithm  string                         `json:"digestAlgorithm"`
	Head             string                         `json:"head"`
	ContentDirectory string                         `json:"contentDirectory,omitempty"`
	Manifest         map[string][]string            `json:"manifest"` // digest -> content paths
	Versions         map[string]*block              `json:"versions"`
	Fixity           map[string]map[string][]string `json:"fixity,omitempty"` // algorithm -> digest -> content paths
}

// block describes a version (§3.5.3.1).
type block struct {
	Created string              `json:"created"`
	Message string              `json:"message,omitempty"`
	User    *user               `json:"user,omitempty"`
	State   map[string][]string `json:"state"` // digest -> logical paths
}

type user struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
}

// What this program writes.
const (
	rootDeclaration   = "0=ocfl_1.1"
	objectDeclaration = "0=ocfl_object_1.1"
	inventoryType     = "https://ocfl.io/1.1/spec/#inventory"
	inventoryName     = "inventory.json"
	sidecarName       = inventoryName + ".sha512"
	contentDirectory  = "content"
)

// Limits of inventories of others.
const (
	maxInventory = 64 << 20 // bytes; decoded, small entries take ten times as many
	maxVersions  = 100_000
)

func (v *inventory) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// sidecar returns the content of the file with the digest of an inventory (§3.7).
func sidecar(text []byte) []byte {
	sum := sha512.Sum512(text)
	return []byte(hex.EncodeToString(sum[:]) + " " + inventoryName + "\n")
}

// newHash returns the hash function of a digest algorithm, nil if this program does not know it.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "sha512":
		return sha512.New()
	case "sha256":
		return sha256.New()
	}
	return nil
}

var versionName = regexp.MustCompile(`^v(0*)([1-9][0-9]{0,8})$`)

// versionNumber returns the number of a version directory, and how many digits a zero-padded one has, 0 for others.
func versionNumber(name string) (n, padding int, ok bool) {
	m := versionName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	n, _ = strconv.Atoi(m[2])
	if m[1] != "" {
		padding = len(name) - 1
	}
	return n, padding, true
}

// directory returns the name of version n, counted from 1, in the style of the head.
func (v *inventory) directory(n int) string {
	if _, padding, _ := versionNumber(v.Head); padding > 0 {
		return fmt.Sprintf("v%0*d", padding, n)
	}
	return "v" + strconv.Itoa(n)
}

func (v *inventory) contentDir() string {
	if v.ContentDirectory == "" {
		return contentDirectory
	}
	return v.ContentDirectory
}

// created returns the time of a version.
func (b *block) created() (time.Time, error) { return time.Parse(time.RFC3339, b.Created) }

// isPath reports whether a logical or content path is allowed (§3.5.2, §3.5.3.1).
func isPath(p string) bool {
	if p == "" || strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return !strings.ContainsRune(p, 0)
}
