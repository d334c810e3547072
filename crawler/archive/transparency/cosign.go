package transparency

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// A witness states with a cosignature (C2SP tlog-cosignature, Ed25519) that it has seen a checkpoint at a time, and
// that the tree contains the trees that it saw before.

const (
	algorithmLog    = 1 // of the keys of logs
	algorithmCosign = 4
	cosignHeader    = "cosignature/v1\n"
	cosignedLen     = 8 + ed25519.SignatureSize
	cosignKey       = "PRIVATE+COSIGNER+" // begins the key file of a witness
)

// cosigner is a note.Verifier, and with a secret a note.Signer, of cosignatures.
type cosigner struct {
	name   string
	hash   uint32
	public ed25519.PublicKey
	secret ed25519.PrivateKey
	now    func() time.Time
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }

func cosignedMessage(at uint64, body []byte) []byte {
	return append([]byte(cosignHeader+"time "+strconv.FormatUint(at, 10)+"\n"), body...)
}

func (c *cosigner) Sign(body []byte) ([]byte, error) {
	at := uint64(max(c.now().Unix(), 0))
	sig := binary.BigEndian.AppendUint64(nil, at)
	return append(sig, ed25519.Sign(c.secret, cosignedMessage(at, body))...), nil
}

func (c *cosigner) Verify(body, sig []byte) bool {
	if len(sig) != cosignedLen {
		return false
	}
	at := binary.BigEndian.Uint64(sig)
	return at < 1<<63 && ed25519.Verify(c.public, cosignedMessage(at, body), sig[8:])
}

func keyHash(name string, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return binary.BigEndian.Uint32(sum[:])
}

func validName(name string) bool {
	return name != "" && len(name) <= 255 &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '+' || r == 0x7f || r == 0xfffd })
}

var errVerifier = errors.New("malformed key")

// ParseVerifier parses the verifier key of a log or of a witness.
func ParseVerifier(key string) (note.Verifier, error) {
	parts := strings.SplitN(key, "+", 3)
	if len(parts) != 3 || !validName(parts[0]) {
		return nil, errVerifier
	}
	raw, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(raw) != 1+ed25519.PublicKeySize {
		return nil, errVerifier
	}
	if raw[0] == algorithmLog {
		return note.NewVerifier(key)
	}
	hash := keyHash(parts[0], raw)
	if raw[0] != algorithmCosign || parts[1] != fmt.Sprintf("%08x", hash) {
		return nil, errVerifier
	}
	return &cosigner{name: parts[0], hash: hash, public: raw[1:]}, nil
}

// Cosigner signs checkpoints as a witness.
type Cosigner struct {
	Public string // verifier key
	signer *cosigner
}

// NewCosigner makes a key for a witness with a name, and returns the text to keep it with.
func NewCosigner(name string) (secret string, err error) {
	if !validName(name) {
		return "", fmt.Errorf("%.100q is not a name of a witness: expected something such as witness.example/w1, without spaces and '+'",
			name)
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails
	return cosignKey + name + "+" + base64.StdEncoding.EncodeToString(seed), nil
}

// ParseCosigner reads what NewCosigner returned. now is the time that cosignatures state.
func ParseCosigner(secret string, now func() time.Time) (*Cosigner, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(secret), cosignKey)
	name, text, found := strings.Cut(rest, "+")
	seed, err := base64.StdEncoding.DecodeString(text)
	if !ok || !found || err != nil || len(seed) != ed25519.SeedSize || !validName(name) {
		return nil, errors.New("it does not hold the key of a witness")
	}
	key := ed25519.NewKeyFromSeed(seed)
	public := append([]byte{algorithmCosign}, key.Public().(ed25519.PublicKey)...)
	c := &cosigner{name: name, hash: keyHash(name, public), public: public[1:], secret: key, now: now}
	return &Cosigner{fmt.Sprintf("%s+%08x+%s", name, c.hash, base64.StdEncoding.EncodeToString(public)), c}, nil
}

// Witnessed is a cosignature.
type Witnessed struct {
	Name string    `json:"name"`
	At   time.Time `json:"time"`
}

// witnessed returns the cosignatures among verified signatures.
func witnessed(n *note.Note, keys note.Verifiers) (list []Witnessed) {
	for _, s := range n.Sigs {
		v, err := keys.Verifier(s.Name, s.Hash)
		if _, ok := v.(*cosigner); err != nil || !ok {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(s.Base64); err == nil && len(raw) == 4+cosignedLen {
			list = append(list, Witnessed{s.Name, time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0).UTC()})
		}
	}
	return list
}
