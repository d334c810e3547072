package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/exchange/timestamp"

	"github.com/spf13/pflag"
)

// Evidence has the settings of the transparency log.
type Evidence struct {
	Key       string        // file with the key that signs checkpoints; "" for the usual one
	Witnesses []string      // witnesses whose cosignatures are taken: verifier keys, or URL#KEY of those that are asked
	TSA       string        // address of the time-stamping authority; "" for none
	TSARoots  string        // file with certificates that its own must lead to; "" for those of the system
	SignEvery time.Duration // how often a server signs the log, if it has grown; 0 for never
}

// LogKeyFlag adds the flag of commands that sign the transparency log or show its key.
func (c *Config) LogKeyFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Evidence.Key, "log-key", c.Evidence.Key,
		"file with the key of the transparency log (default transparency/key in the archive's directory)")
}

// EvidenceFlags adds the flags of commands that serve the transparency log.
func (c *Config) EvidenceFlags(f *pflag.FlagSet) {
	c.LogKeyFlag(f)
	c.ARKFlag(f)
	c.VouchFlags(f)
	f.DurationVar(&c.Evidence.SignEvery, "log-sign-every", c.Evidence.SignEvery,
		"how often the transparency log is signed, if it has grown and there is a key; 0 for never")
}

// VouchFlags adds the flags of commands that ask others to vouch for the checkpoints of the transparency log.
func (c *Config) VouchFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&c.Evidence.Witnesses, "log-witness", nil,
		"key of a witness whose cosignatures of the transparency log are taken, or URL#KEY for one that is also asked for them (C2SP "+
			"tlog-witness; repeatable)")
	c.TSAFlags(f)
}

// TSAFlags adds the flags that name a time-stamping authority.
func (c *Config) TSAFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Evidence.TSA, "tsa", c.Evidence.TSA,
		"address of a time-stamping authority (RFC 3161), which stamps the checkpoints of the transparency log")
	c.TSARootsFlag(f)
}

// TSARootsFlag adds the flag that says which authorities are trusted.
func (c *Config) TSARootsFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Evidence.TSARoots, "tsa-roots", c.Evidence.TSARoots,
		"file (PEM) with the certificates that the authority's own must lead to (default those of the system)")
}

// ARKFlag adds the flag of commands that cite.
func (c *Config) ARKFlag(f *pflag.FlagSet) {
}

// LogKey returns the name of the file with the key of the transparency log.
func (c Config) LogKey() string {
	if c.Evidence.Key != "" {
		return c.Evidence.Key
	}
	return filepath.Join(c.Data, "transparency", "key")
}

// Witness is a witness of the transparency log.
type Witness struct {
	Key     transparency.Verifier
	Address string // where it is asked; "" if it sends its cosignatures by itself
}

// LogWitnesses parses Evidence.Witnesses.
func (c Config) LogWitnesses() (list []Witness, err error) {
	for _, value := range c.Evidence.Witnesses {
		w := Witness{}
		key := value
		if strings.Contains(value, "://") {
			w.Address, key, _ = strings.Cut(value, "#")
			u, err := url.Parse(w.Address)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
				return nil, fmt.Errorf("--log-witness %.200q: expected a key, or an address such as https://witness.example/w1#KEY", value)
			}
		}
		keys, err := transparency.Verifiers([]string{key})
		if err != nil {
			return nil, fmt.Errorf("--log-witness: %w", err)
		}
		w.Key = keys[0]
		list = append(list, w)
	}
	return list, nil
}

// TSATrusted returns the certificates of Evidence.TSARoots, or those of the system.
func (c Config) TSATrusted() (*x509.CertPool, error) {
	if c.Evidence.TSARoots == "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("certificates of the system: %w; name others with --tsa-roots", err)
		}
		return roots, nil
	}
	text, err := os.ReadFile(c.Evidence.TSARoots)
	if err != nil {
		return nil, fmt.Errorf("--tsa-roots: %w", err)
	}
	roots, err := timestamp.Roots(text)
	if err != nil {
		return nil, fmt.Errorf("--tsa-roots %s: %w", c.Evidence.TSARoots, err)
	}
	return roots, nil
}

func (e Evidence) check() error {
	if e.SignEvery < 0 || e.SignEvery > 0 && e.SignEvery < time.Minute {
		return errors.New("--log-sign-every: expected a time of at least 1m, or 0 for never")
	}
	if e.TSA != "" {
		if err := timestamp.CheckAddress(e.TSA); err != nil {
			return fmt.Errorf("--tsa: %w", err)
		}
	}
	if _, err := (Config{Evidence: e}).LogWitnesses(); err != nil {
		return err
	}
	return nil
}
