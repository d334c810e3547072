package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Token is what a server knows of a token: not the token itself.
type Token struct {
	Name    string
	Rights  Right
	Expires time.Time // zero for never
	Rate    float64   // requests a second; 0 for the limit of its address
	Digest  [sha256.Size]byte
}

// Limits of tokens.
const (
	MaxTokens  = 1000
	maxName    = 64      // bytes
	maxSecret  = 4 << 10 // bytes of a token that is compared
	hashPrefix = "sha256:"
)

// Errors of Find.
var (
	ErrUnknown = errors.New("the token is not one of this server's")
	ErrExpired = errors.New("the token has expired")
	ErrRevoked = errors.New("the token was revoked")
)

// New returns a new random token and its digest. The prefix lets tools that look for secrets in code recognise it.
func New() (secret string, digest [sha256.Size]byte) {
	secret = "oda_" + rand.Text()
	return secret, Digest(secret)
}

// Digest returns the digest of a token.
func Digest(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// FormatHash returns a digest as settings contain it.
func FormatHash(digest [sha256.Size]byte) string { return hashPrefix + hex.EncodeToString(digest[:]) }

// ParseHash parses a digest of FormatHash.
func ParseHash(text string) (digest [sha256.Size]byte, err error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, hashPrefix))
	if err != nil || len(raw) != len(digest) || !strings.HasPrefix(text, hashPrefix) {
		return digest, errors.New("expected sha256: and 64 hexadecimal digits; 'odarchive admin token new' prints it")
	}
	return [sha256.Size]byte(raw), nil
}

// CheckName returns an error if a name is not one of letters, digits, '.', '_' and '-'.
func CheckName(name string) error {
	plain := strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-") == ""
	if name == "" || len(name) > maxName || !plain || name == Local().Name {
		return fmt.Errorf("%.80q is not a name of a token: expected at most %d letters, digits, '.', '_' and '-', and not %q", name,
			maxName, Local().Name)
	}
	return nil
}

// Single returns the list of one token with all rights; none if secret is "".
func Single(secret string) []Token {
	if secret == "" {
		return nil
	}
	return []Token{{Name: "token", Rights: All, Digest: Digest(secret)}}
}

// Tokens are the tokens of a server. Methods may be called concurrently.
type Tokens struct {
	mu      sync.RWMutex // guards what follows
	list    []Token
	revoked map[[sha256.Size]byte]bool
	used    map[[sha256.Size]byte]time.Time // since the server's start
}

// NewTokens returns Tokens of a list.
func NewTokens(list []Token) *Tokens {
	return &Tokens{list: list, revoked: map[[sha256.Size]byte]bool{}, used: map[[sha256.Size]byte]time.Time{}}
}

// Replace replaces the list. Revoked tokens stay revoked.
func (t *Tokens) Replace(list []Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = list
	kept := map[[sha256.Size]byte]time.Time{}
	for _, one := range list {
		if at, ok := t.used[one.Digest]; ok {
			kept[one.Digest] = at
		}
	}
	t.used = kept
}

// Revoke makes tokens invalid by their digests, also those that Replace brings later.
func (t *Tokens) Revoke(digests ...[sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range digests {
		t.revoked[d] = true
	}
}

// None reports whether there are no tokens, so that nobody can write.
func (t *Tokens) None() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.list) == 0
}

// Find returns the token that was sent, or one of the errors above. It compares digests, all of them and in constant
// time, so that the time of a refusal reveals nothing of any token.
func (t *Tokens) Find(secret string, now time.Time) (*Token, error) {
	if len(secret) > maxSecret {
		return nil, ErrUnknown
	}
	return t.valid(Digest(secret), now)
}

// valid returns the token with a digest if it is valid now.
func (t *Tokens) valid(digest [sha256.Size]byte, now time.Time) (*Token, error) {
	t.mu.RLock()
	var found *Token
	for i := range t.list {
		if subtle.ConstantTimeCompare(t.list[i].Digest[:], digest[:]) == 1 {
			one := t.list[i]
			found = &one
		}
	}
	revoked, used := t.revoked[digest], t.used[digest]
	t.mu.RUnlock()
	switch {
	case found == nil:
		return nil, ErrUnknown
	case revoked:
		return nil, ErrRevoked
	case !found.Expires.IsZero() && !now.Before(found.Expires):
		return nil, ErrExpired
	}
	if now.Sub(used) >= time.Second {
		t.mu.Lock()
		t.used[digest] = now
		t.mu.Unlock()
	}
	return found, nil
}

// Listed is a token in a list for people. It has nothing from which the token could be guessed.
type Listed struct {
	Name    string     `json:"name"`
	Rights  []string   `json:"rights"`
	Expires *time.Time `json:"expires,omitempty"`
	Rate    float64    `json:"rate,omitempty"`  // requests a second
	Used    *time.Time `json:"used,omitempty"`  // last, since the server's start
	State   string     `json:"state,omitempty"` // "expired", "revoked", or "" if it is valid
}

// List returns all tokens, in the order of the settings.
func (t *Tokens) List(now time.Time) []Listed {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]Listed, 0, len(t.list))
	for _, one := range t.list {
		l := Listed{Name: one.Name, Rights: one.Rights.Names(), Rate: one.Rate}
		if !one.Expires.IsZero() {
			at := one.Expires
			l.Expires = &at
		}
		if at, ok := t.used[one.Digest]; ok {
			l.Used = &at
		}
		switch {
		case t.revoked[one.Digest]:
			l.State = "revoked"
		case l.Expires != nil && !now.Before(*l.Expires):
			l.State = "expired"
		}
		all = append(all, l)
	}
	return all
}

// Named returns the digests of the tokens with a name.
func (t *Tokens) Named(name string) (digests [][sha256.Size]byte) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, one := range t.list {
		if one.Name == name {
			digests = append(digests, one.Digest)
		}
	}
	return digests
}
