package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"odarchive/crawler/archive/transparency"
	"odarchive/ns"

	"github.com/spf13/pflag"
)

// Evidence has the settings of the transparency log.
type Evidence struct {
	Key       string        // file with the key that signs checkpoints; "" for the usual one
	NAAN      string        // of ARKs; "" for none
	Witnesses []string      // verifier keys of witnesses whose cosignatures are taken
	SignEvery time.Duration // how often a server signs the log, if it has grown; 0 for never
}

// LogKeyFlag adds the flag of commands that sign the transparency log or show its key.
func (c *Config) LogKeyFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Evidence.Key, "log-key", c.Evidence.Key, "file with the key of the transparency log (default transparency/key in the archive's directory)")
}

// EvidenceFlags adds the flags of commands that serve the transparency log.
func (c *Config) EvidenceFlags(f *pflag.FlagSet) {
	c.LogKeyFlag(f)
	c.ARKFlag(f)
	f.StringArrayVar(&c.Evidence.Witnesses, "log-witness", nil, "key of a witness whose cosignatures of the transparency log are taken, as 'odarchive log witness' prints it (repeatable)")
	f.DurationVar(&c.Evidence.SignEvery, "log-sign-every", c.Evidence.SignEvery, "how often the transparency log is signed, if it has grown and there is a key; 0 for never")
}

// ARKFlag adds the flag of commands that cite.
func (c *Config) ARKFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Evidence.NAAN, "ark", c.Evidence.NAAN, "your Name Assigning Authority Number, such as 12345: files and versions get ARKs below it, which this server resolves")
}

// LogKey returns the name of the file with the key of the transparency log.
func (c Config) LogKey() string {
	if c.Evidence.Key != "" {
		return c.Evidence.Key
	}
	return filepath.Join(c.Data, "transparency", "key")
}

// LogWitnesses parses Witnesses.
func (c Config) LogWitnesses() ([]transparency.Verifier, error) {
	list, err := transparency.Verifiers(c.Evidence.Witnesses)
	if err != nil {
		return nil, fmt.Errorf("--log-witness: %w", err)
	}
	return list, nil
}

func (e Evidence) check() error {
	if e.NAAN != "" && !ns.IsNAAN(e.NAAN) {
		return fmt.Errorf("--ark %q: expected a Name Assigning Authority Number such as 12345", e.NAAN)
	}
	if e.SignEvery < 0 || e.SignEvery > 0 && e.SignEvery < time.Minute {
		return errors.New("--log-sign-every: expected a time of at least 1m, or 0 for never")
	}
	return nil
}
