package config

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/copies/dispatch"
	"odarchive/triplestore/disk"

	"github.com/spf13/pflag"
)

// Workers has the settings of an archive whose visits other processes make, too.
type Workers struct {
	NATS   string        // "" for none, "embedded", or an address
	Listen string        // HOST:PORT of the embedded server
	Lease  time.Duration // how long a worker may go without a word
	Join   string        // of a worker: the address of the archive's NATS server
	Status string        // of a worker: where to serve its figures; "" for nowhere

	NATSAccess
}

// NATSAccess is how processes are known to a NATS server.
type NATSAccess struct {
	TokenFile string
	User      string   // with the password in PasswordFile
	Password  string   // file
	NKeyFile  string   // seed
	NKeys     []string // public keys that the embedded server admits
	CredsFile string
	CA        string
	Cert      string
	Key       string
}

// Embedded is the value of Workers.NATS for a server in this process.
const Embedded = "embedded"

// minLease is the least that a lease may last.
const minLease = time.Second

// WorkersFlags adds the flags of a server that has workers.
func (c *Config) WorkersFlags(f *pflag.FlagSet) {
	w := &c.Workers
	f.StringVar(&w.NATS, "nats", w.NATS,
		"let 'odarchive work' processes fetch, too: embedded for a NATS server in this process, or the address of one, as "+
			"nats://HOST:4222 or nats://HOST:4222/NAME")
	f.StringVar(&w.Listen, "nats-listen", w.Listen,
		"HOST:PORT of the embedded NATS server; beyond loopback it needs a token, a user or NKeys")
	f.DurationVar(&w.Lease, "lease", w.Lease, "how long a worker may go without a word; then its host is left alone and given to another")
	w.flags(f)
	f.StringArrayVar(&w.NKeys, "nats-nkey", nil, "public key (U...) of workers that the embedded NATS server admits (repeatable)")
}

// MachinesFlags adds the flags of a server that others help, copy or replace.
func (c *Config) MachinesFlags(f *pflag.FlagSet) {
	c.BackupFlags(f)
	c.WriterFlags(f)
	c.WorkersFlags(f)
	c.FollowFlags(f)
}

// JoinFlags adds the flags of a worker.
func (c *Config) JoinFlags(f *pflag.FlagSet) {
	w := &c.Workers
	f.StringVar(&w.Join, "join", w.Join, "address of the archive's NATS server, as nats://HOST:4222 or nats://HOST:4222/NAME")
	f.StringVar(&w.Status, "listen", w.Status, "HOST:PORT on which to serve /metrics, /healthz, /readyz and /status; nowhere without it")
	f.StringVar(&c.Bytes, "bytes", c.Bytes, "bucket of the archive's --bytes, through which large files go to it; over NATS without it")
	w.flags(f)
}

func (a *NATSAccess) flags(f *pflag.FlagSet) {
	f.StringVar(&a.TokenFile, "nats-token-file", a.TokenFile, "file with the token of the NATS server")
	f.StringVar(&a.User, "nats-user", a.User, "user of the NATS server")
	f.StringVar(&a.Password, "nats-password-file", a.Password, "file with the password of --nats-user")
	f.StringVar(&a.NKeyFile, "nats-nkey-file", a.NKeyFile,
		"file with the seed of an NKey (SU...), which identifies this process to the NATS server")
	f.StringVar(&a.CredsFile, "nats-creds", a.CredsFile, "file with a JWT and a seed, as nsc writes them")
	f.StringVar(&a.CA, "nats-ca", a.CA, "certificates of authorities for the NATS server, as PEM file; those of the system without it")
	f.StringVar(&a.Cert, "nats-cert", a.Cert,
		"certificate, as PEM file: of the embedded NATS server, which then needs TLS, or of this client")
	f.StringVar(&a.Key, "nats-key", a.Key, "key of --nats-cert, as PEM file")
}

func (w Workers) check() error {
	switch {
	case w.Lease < minLease || w.Lease > 24*time.Hour:
		return fmt.Errorf("--lease %s: expected a time from %s to 24h", w.Lease, minLease)
	case (w.Cert == "") != (w.Key == ""):
		return errors.New("--nats-cert and --nats-key: one needs the other")
	case (w.User == "") != (w.Password == ""):
		return errors.New("--nats-user and --nats-password-file: one needs the other")
	case len(w.NKeys) > 0 && w.NATS != Embedded:
		return errors.New("--nats-nkey needs --nats embedded: another NATS server has keys of its own")
	case w.NATS == Embedded && (w.NKeyFile != "" || w.CredsFile != ""):
		return errors.New(
			"--nats-nkey-file and --nats-creds are for a NATS server elsewhere; --nats embedded admits workers by --nats-nkey, a token, " +
				"or a user and a password")
	}
	for flag, address := range map[string]string{"--nats": w.NATS, "--join": w.Join} {
		if address == "" || flag == "--nats" && address == Embedded {
			continue
		}
		if _, err := dispatch.ParseAddress(address); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return nil
}

// maxSecret is the most that every NATS server takes: it has 4 KiB for all that a client says of itself.
const maxSecret = 1000

// secretOf returns the text of a file with a secret, without spaces around it; "" for no file.
func secretOf(flag, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	b, err := disk.ReadFile(disk.OS{}, name, 64<<10)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	text := strings.TrimSpace(string(b))
	unprintable := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	switch {
	case text == "":
		return "", fmt.Errorf("%s: %s is empty", flag, name)
	case len(text) > maxSecret || strings.ContainsFunc(text, unprintable):
		return "", fmt.Errorf("%s: %s is no secret: expected one line of text, of at most %d bytes", flag, name, maxSecret)
	}
	return text, nil
}

// secrets reads the token and the password.
func (a NATSAccess) secrets() (token, password string, err error) {
	if token, err = secretOf("--nats-token-file", a.TokenFile); err != nil {
		return "", "", err
	}
	password, err = secretOf("--nats-password-file", a.Password)
	return token, password, err
}

// Credentials returns how this process is known to a server elsewhere. The error says which file is not what it should
// be.
func (a NATSAccess) Credentials() (dispatch.Credentials, error) {
	token, password, err := a.secrets()
	c := dispatch.Credentials{Token: token, User: a.User, Password: password, NKeyFile: a.NKeyFile, File: a.CredsFile, CA: a.CA,
		Cert: a.Cert, Key: a.Key}
	if err == nil {
		err = c.Check()
	}
	return c, err
}

// Server returns the options of the embedded server, whose directory the caller sets.
func (w Workers) Server() (dispatch.ServerOptions, error) {
	token, password, err := w.secrets()
	o := dispatch.ServerOptions{Listen: w.Listen, Token: token, User: w.User, Password: password, NKeys: w.NKeys, Cert: w.Cert, Key: w.Key}
	if err != nil {
		return o, err
	}
	if err := o.CheckListen(); err != nil {
		return o, fmt.Errorf("--nats-listen: %w", err)
	}
	return o, o.Check()
}
