package config

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"odarchive/sparqlapi/operate/access"
)

// tokenTable is the name of the tables in the settings file that are tokens.
const tokenTable = "token"

// Tokens returns the [[token]] tables of a settings file, none if file is nil.
func Tokens(file *File) ([]access.Token, error) {
	if file == nil {
		return nil, nil
	}
	var tables struct {
		Token any `toml:"token"` // [[token]], or the setting of that name
	}
	meta, err := file.decode(&tables)
	if err != nil {
		return nil, err
	}
	if _, ok := tables.Token.([]map[string]any); !ok {
		return nil, nil
	}
	var list struct {
		Token []tokenSetting `toml:"token"`
	}
	if meta, err = file.decode(&list); err != nil {
		return nil, err
	}
	if err := file.check(tokenTable, reflect.TypeOf(list), meta.Undecoded()); err != nil {
		return nil, err
	}
	if len(list.Token) > access.MaxTokens {
		return nil, file.errorf("it has %d [[token]] tables; at most %d are allowed", len(list.Token), access.MaxTokens)
	}
	var tokens []access.Token
	for _, s := range list.Token {
		token, err := s.parse()
		if err != nil {
			return nil, file.errorf("[[token]] %.80s: %w", s.Name, err)
		}
		if slices.ContainsFunc(tokens, func(other access.Token) bool { return other.Digest == token.Digest }) {
			return nil, file.errorf("[[token]] %s: another table has the same hash", s.Name)
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// tokenSetting is a [[token]] table.
type tokenSetting struct {
	Name    string
	Rights  []string
	Hash    string
	Expires time.Time
	Rate    float64
}

func (s tokenSetting) parse() (t access.Token, err error) {
	t = access.Token{Name: s.Name, Expires: s.Expires, Rate: s.Rate}
	if err := access.CheckName(s.Name); err != nil {
		return t, err
	}
	if t.Rights, err = ParseRights(s.Rights); err != nil {
		return t, err
	}
	if !(s.Rate >= 0 && s.Rate <= 1e6) { // NaN is neither
		return t, fmt.Errorf("rate %v: expected requests a second, at most a million, or 0 for the limit of an address", s.Rate)
	}
	if t.Digest, err = access.ParseHash(s.Hash); err != nil {
		return t, fmt.Errorf("hash: %w", err)
	}
	return t, nil
}

// ParseRights returns the set of rights with these names, of which there must be one at least.
func ParseRights(names []string) (all access.Right, err error) {
	if len(names) == 0 {
		return 0, fmt.Errorf("it needs one right at least: %s", access.All)
	}
	for _, name := range names {
		right, err := access.ParseRight(name)
		if err != nil {
			return 0, err
		}
		all |= right
	}
	return all, nil
}
