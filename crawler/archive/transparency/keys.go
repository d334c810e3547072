package transparency

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"odarchive/triplestore/disk"

	"golang.org/x/mod/sumdb/note"
)

// Key is the key of a log, as its file holds it: the present key first, then former keys, which sign beside it until
// they are retired, so that those who trust them learn of the present one.
type Key struct {
	Origin  string   // name of the log, the first line of its checkpoints
	Public  []string // verifier keys (C2SP signed-note), in the order of the file
	signers []note.Signer
	lines   []string
}

const (
	maxKeyFile = 64 << 10
	maxKeys    = 8
)

// ErrNoKey means that there is no file with a key.
var ErrNoKey = errors.New("there is no key to sign checkpoints with; 'odarchive log key new' makes one")

// Origin returns the usual origin of the log of an archive with a base: the address of its log without the scheme.
func Origin(base string) string {
	_, rest, _ := strings.Cut(base, "://")
	return strings.TrimSuffix(rest, "/") + "/log"
}

// NewKey writes a file with a new key for a log, which must not exist. Only its owner may read it.
func NewKey(file, origin string) (*Key, error) {
	if _, err := os.Lstat(file); err == nil {
		return nil, fmt.Errorf("%s exists already; 'odarchive log key rotate' replaces the key that it holds", file)
	}
	return writeKey(file, origin, nil)
}

// RotateKey makes a new key for the log of a file. The former keys stay in the file and sign, too.
func RotateKey(file string) (*Key, error) {
	k, err := ReadKey(file)
	if err != nil {
		return nil, err
	}
	if len(k.lines) >= maxKeys {
		return nil, fmt.Errorf("%s has %d keys; 'odarchive log key retire' drops the former ones", file, len(k.lines))
	}
	return writeKey(file, k.Origin, k.lines)
}

// RetireKeys drops all keys of a file but the present one.
func RetireKeys(file string) (*Key, error) {
	k, err := ReadKey(file)
	if err != nil {
		return nil, err
	}
	return storeKey(file, k.lines[:1])
}

func writeKey(file, origin string, former []string) (*Key, error) {
	secret, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return nil, fmt.Errorf("key of a log: %w", err)
	}
	return storeKey(file, append([]string{secret}, former...))
}

func storeKey(file string, lines []string) (*Key, error) {
	k, err := parseKey(strings.Join(lines, "\n") + "\n")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("key of a log: %w", err)
	}
	_ = os.Remove(file + ".new") // of an interrupted write, with whatever mode it has
	if err := disk.WriteFile(disk.OS{}, file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("key of a log: %w", err)
	}
	return k, nil
}

// ReadKey reads a file that NewKey wrote. The error is ErrNoKey if there is none. A file that others may read is
// refused.
func ReadKey(file string) (*Key, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", file, ErrNoKey)
	}
	if err != nil {
		return nil, fmt.Errorf("key of a log: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read by others: 'chmod 600 %s', and replace the key if anybody may have read it", file, file)
	}
	raw, err := disk.ReadFile(disk.OS{}, file, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("key of a log: %w", err)
	}
	k, err := parseKey(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

func parseKey(text string) (*Key, error) {
	k := &Key{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		signer, err := note.NewSigner(line)
		if err != nil {
			return nil, errors.New("it does not hold the key of a log") // an error that quotes the line would tell the key
		}
		if k.Origin == "" {
			k.Origin = signer.Name()
		}
		public, err := publicKey(line)
		if err != nil || signer.Name() != k.Origin || slices.Contains(k.lines, line) || len(k.lines) >= maxKeys {
			return nil, errors.New("it does not hold the keys of one log, each once")
		}
		k.signers, k.lines, k.Public = append(k.signers, signer), append(k.lines, line), append(k.Public, public)
	}
	if len(k.signers) == 0 {
		return nil, errors.New("it holds no key")
	}
	return k, nil
}

// publicKey returns the verifier key of a signer key: PRIVATE+KEY+name+hash+base64(algorithm, seed).
func publicKey(secret string) (string, error) {
	parts := strings.SplitN(secret, "+", 5)
	if len(parts) != 5 {
		return "", errors.New("malformed key")
	}
	raw, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return "", errors.New("malformed key")
	}
	return note.NewEd25519VerifierKey(parts[2], ed25519.NewKeyFromSeed(raw[1:]).Public().(ed25519.PublicKey))
}

// verifiers returns the verifiers of the keys, which parseKey has made itself.
func (k *Key) verifiers() (list []note.Verifier) {
	list, _ = Verifiers(k.Public)
	return list
}

// Verifier checks signatures of a log, or cosignatures of a witness.
type Verifier = note.Verifier

// Verifiers parses verifier keys: of logs, and of witnesses.
func Verifiers(keys []string) (list []note.Verifier, err error) {
	for _, key := range keys {
		v, err := ParseVerifier(strings.TrimSpace(key))
		if err != nil {
			return nil, fmt.Errorf("%.100q is not a key such as archive.example/log+1a2b3c4d+A…: %w", key, err)
		}
		if !slices.ContainsFunc(list, func(have note.Verifier) bool { return have.Name() == v.Name() && have.KeyHash() == v.KeyHash() }) {
			list = append(list, v) // the same key twice would be ambiguous
		}
	}
	return list, nil
}
