package faces

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/sparqlapi/operate/access"
)

// keyRevoked is the setting of the store with the revoked tokens, as JSON.
const keyRevoked = "access/revoked"

// maxRevoked bounds the list of revoked tokens.
const maxRevoked = 10_000

// revoked is a token that was revoked. The list keeps its digest, because the settings may still have it.
type revoked struct {
	Name string    `json:"name"`
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// readRevoked returns the revoked tokens and makes them invalid.
func (a *Faces) readRevoked() (list []revoked, err error) {
	text, err := a.store.Setting(keyRevoked)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("list of revoked tokens: %w", err) // the server does not start: one of them may be in the settings
	}
	for _, one := range list {
		digest, err := access.ParseHash(one.Hash)
		if err != nil {
			return nil, fmt.Errorf("list of revoked tokens: %w", err)
		}
		a.tokens.Revoke(digest)
	}
	return list, nil
}

// ListTokens returns all tokens.
func (a *Faces) ListTokens(context.Context) ([]access.Listed, error) {
	if _, err := a.readRevoked(); err != nil {
		return nil, err
	}
	return a.tokens.List(a.store.Clock()), nil
}

// RevokeToken makes the tokens with a name invalid for ever: durably, then at once.
func (a *Faces) RevokeToken(ctx context.Context, name string) ([]access.Listed, error) {
	a.revoking.Lock()
	defer a.revoking.Unlock()
	list, err := a.readRevoked()
	if err != nil {
		return nil, err
	}
	digests := a.tokens.Named(name)
	if len(digests) == 0 {
		return nil, fmt.Errorf("%w: %.80q", access.ErrNoName, name)
	}
	known := map[string]bool{}
	for _, one := range list {
		known[one.Hash] = true
	}
	for _, d := range digests {
		if hash := access.FormatHash(d); !known[hash] {
			list = append(list, revoked{name, hash, a.store.Clock().UTC()})
		}
	}
	if len(list) > maxRevoked {
		return nil, fmt.Errorf("there are %d revoked tokens already: remove this one from the settings", maxRevoked)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	if err := a.store.SetSetting(ctx, keyRevoked, string(text)); err != nil {
		return nil, err
	}
	a.tokens.Revoke(digests...)
	return a.tokens.List(a.store.Clock()), nil
}
