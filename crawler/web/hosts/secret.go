package hosts

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Secret is a section of the secrets file. Its fields are not exported, and it prints as its name, so that no log,
// report or record can show them by accident.
type Secret struct {
	name           string
	user, password string
	bearer, cookie string
	headers        http.Header
	certificate    *tls.Certificate
	plain          bool
}

// String returns the name of the section.
func (s *Secret) String() string { return "secret " + s.name }

// GoString, LogValue and MarshalText return the name, too.
func (s *Secret) GoString() string             { return s.String() }
func (s *Secret) LogValue() slog.Value         { return slog.StringValue(s.String()) }
func (s *Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Format implements fmt.Formatter for every verb, %+v and %#v included.
func (s *Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// Login returns the user and password. ok is false if the section has none.
func (s *Secret) Login() (user, password string, ok bool) {
	if s == nil {
		return "", "", false
	}
	return s.user, s.password, s.user != "" || s.password != ""
}

// Certificate returns the client certificate, or nil.
func (s *Secret) Certificate() *tls.Certificate {
	if s == nil {
		return nil
	}
	return s.certificate
}

// Permits reports whether the secret may be sent over a connection: one with TLS, unless the section permits others.
func (s *Secret) Permits(encrypted bool) bool { return s != nil && (encrypted || s.plain) }

// SetHeader adds the login to the header of a request. Cookies that it already has are kept.
func (s *Secret) SetHeader(h http.Header) {
	for name, values := range s.headers {
		h[name] = values
	}
	if user, password, ok := s.Login(); ok {
		(&http.Request{Header: h}).SetBasicAuth(user, password)
	}
	if s.bearer != "" {
		h.Set("Authorization", "Bearer "+s.bearer)
	}
	if s.cookie != "" {
		both := s.cookie
		if own := h.Get("Cookie"); own != "" {
			both += "; " + own
		}
		h.Set("Cookie", both)
	}
}

// Names returns the names of the header fields of requests that are, or follow from, the login. They must not be
// recorded.
func (s *Secret) Names() []string {
	if s == nil {
		return nil
	}
	names := []string{"Authorization", "Cookie"} // a host gives who has logged in further cookies
	for name := range s.headers {
		names = append(names, name)
	}
	return names
}

// Repeated reports whether a header field of an answer tells something of the login: it sets a cookie, or repeats what
// was sent. It must not be recorded. Fields that say how the answer is to be read never do.
func (s *Secret) Repeated(name, value string) bool {
	switch name = http.CanonicalHeaderKey(name); {
	case s == nil || slices.Contains([]string{"Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding"}, name):
		return false
	case name == "Set-Cookie" || name == "Set-Cookie2":
		return true
	}
	sent := []string{s.password, s.bearer, s.cookie}
	if user, password, ok := s.Login(); ok {
		sent = append(sent, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	for pair := range strings.SplitSeq(s.cookie, ";") {
		_, text, _ := strings.Cut(pair, "=")
		sent = append(sent, strings.TrimSpace(text))
	}
	for _, values := range s.headers {
		sent = append(sent, values...)
	}
	return slices.ContainsFunc(sent, func(text string) bool { return text != "" && strings.Contains(value, text) })
}

// section is a section of the file.
type section struct {
	User        string            `toml:"user"`
	Password    string            `toml:"password"`
	Bearer      string            `toml:"bearer"`
	Cookie      string            `toml:"cookie"`
	Headers     map[string]string `toml:"headers"`
	Certificate string            `toml:"certificate"` // file
	Key         string            `toml:"key"`         // file; that of the certificate if not given
	Plain       bool              `toml:"plain"`       // may be sent without TLS
}

// maxSecrets is the maximum size of the secrets file in bytes.
const maxSecrets = 4 << 20

// ReadSecrets reads a secrets file: a TOML table for each name. No error quotes what is in the file.
func ReadSecrets(file string) (map[string]*Secret, error) {
	if file == "" {
		return map[string]*Secret{}, nil
	}
	fail := func(err error) (map[string]*Secret, error) { return nil, fmt.Errorf("secrets file %s: %w", file, err) }
	raw, err := readPrivate(file)
	if err != nil {
		return fail(err)
	}
	var sections map[string]section
	meta, err := toml.Decode(string(raw), &sections)
	if err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return fail(fmt.Errorf("line %d is not TOML", at.Position.Line))
		}
		return fail(errors.New(`expected sections such as [portal] with user = "…" and password = "…"`))
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return fail(fmt.Errorf(
			"section %q has an unknown setting; there are user, password, bearer, cookie, headers, certificate, key and plain",
			extra[0][0]))
	}
	all := map[string]*Secret{}
	for name, from := range sections {
		s, err := from.secret(name, filepath.Dir(file))
		if err != nil {
			return fail(fmt.Errorf("section %q: %w", name, err))
		}
		all[name] = s
	}
	return all, nil
}

// readPrivate reads a file that nobody but its owner may read.
func readPrivate(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if mode := info.Mode(); mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may read it (mode %04o); chmod 600 ends that", mode.Perm())
	}
	if info.Size() > maxSecrets {
		return nil, errors.New("it is larger than 4 MiB")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return raw, nil
}

func (f section) secret(name, dir string) (*Secret, error) {
	s := &Secret{name: name, user: f.User, password: f.Password, bearer: f.Bearer, cookie: f.Cookie, plain: f.Plain, headers: http.Header{}}
	for _, text := range []string{f.Bearer, f.Cookie, f.User, f.Password} {
		if !validValue(text) {
			return nil, errors.New("a value has control characters")
		}
	}
	if strings.Contains(f.User, ":") {
		return nil, errors.New("a user must not contain a colon")
	}
	for name, value := range f.Headers {
		if err := checkHeader(name, value, true); err != nil {
			return nil, err
		}
		s.headers.Set(name, value)
	}
	if f.Certificate == "" {
		return s, nil
	}
	inDir := func(file string) string {
		if filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(dir, file)
	}
	certificate, err := os.ReadFile(inDir(f.Certificate))
	if err != nil {
		return nil, err
	}
	if f.Key == "" {
		f.Key = f.Certificate
	}
	key, err := readPrivate(inDir(f.Key))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", f.Key, err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errors.New("certificate and key do not belong together, or are not in PEM")
	}
	s.certificate = &pair
	return s, nil
}

// reserved are the header fields that requests have anyway, or that say how a message is sent.
var reserved = []string{"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade",
	"Te", "Trailer", "Keep-Alive",
	"Proxy-Connection", "If-None-Match", "If-Modified-Since", "If-Range", "Range", "Expect"}

// checkHeader checks a header field that an operator adds. Only the secrets file may have those of a login.
func checkHeader(name, value string, secret bool) error {
	token := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}
	plain := http.CanonicalHeaderKey(name)
	switch {
	case name == "" || len(name) > 200 || strings.ContainsFunc(name, token):
		return fmt.Errorf("%.200q is not the name of a header field", name)
	case slices.Contains(reserved, plain):
		return fmt.Errorf("header %s cannot be set", plain)
	case !secret && slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, plain):
		return fmt.Errorf("header %s belongs into the secrets file", plain)
	case !validValue(value):
		return fmt.Errorf("the value of header %s is too long, has control characters or is not UTF-8", plain)
	}
	return nil
}

// validValue reports whether a text can be the value of a header field. Rules are kept as JSON, which would change what
// is not UTF-8.
func validValue(v string) bool {
	return len(v) <= 4*maxText && utf8.ValidString(v) &&
		!strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
