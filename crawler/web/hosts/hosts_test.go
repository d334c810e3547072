package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/kv"

	"github.com/BurntSushi/toml"
)

// rules parses [[host]] tables.
func rules(t *testing.T, text string) []Rule {
	t.Helper()
	var tables struct {
		Host []Rule `toml:"host"`
	}
	if _, err := toml.Decode(text, &tables); err != nil {
		t.Fatal(err)
	}
	return tables.Host
}

// secretsFile writes a secrets file that only its owner may read.
func secretsFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secrets.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTheMostSpecificRuleThatSetsAValueDecides(t *testing.T) {
	t.Parallel()
	b, err := NewBook(Options{Base: Settings{Delay: 2 * time.Second, Retries: 2}, File: rules(t, `
[[host]]
match = "*"
retries = 1
[[host]]
match = "*.example.org"
delay = "10s"
daily = "20%"
headers = { X-From = "domain", X-Other = "kept" }
paused = "the domain rests"
[[host]]
match = "Data.Example.org"
delay = "5s"
headers = { X-From = "host" }
[[host]]
match = "data.example.org:8443"
paused = ""
parallel = 4
[[host]]
match = '/files[0-9]\.example\.net/'
max-body = "1GiB"
user-agent = "special/2.0"
`)})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"other.test": "delay 2s parallel 1 retries 1 daily 0 body 0 agent  headers map[] paused ",
		"example.org": "delay 10s parallel 1 retries 1 daily 20% body 0 agent  headers map[X-From:domain X-Other:kept] paused " +
			"the domain rests",
		"a.b.example.org": "delay 10s parallel 1 retries 1 daily 20% body 0 agent  headers map[X-From:domain X-Other:kept] paused " +
			"the domain rests",
		"notexample.org": "delay 2s parallel 1 retries 1 daily 0 body 0 agent  headers map[] paused ",
		"data.example.org": "delay 5s parallel 1 retries 1 daily 20% body 0 agent  headers map[X-From:host X-Other:kept] paused the " +
			"domain rests",
		"data.example.org:8443": "delay 5s parallel 4 retries 1 daily 20% body 0 agent  headers map[X-From:host X-Other:kept] paused ",
		"files7.example.net":    "delay 2s parallel 1 retries 1 daily 0 body 1073741824 agent special/2.0 headers map[] paused ",
		"xfiles7.example.net":   "delay 2s parallel 1 retries 1 daily 0 body 0 agent  headers map[] paused ",
	} {
		s := b.Of(host)
		got := fmt.Sprintf("delay %v parallel %d retries %d daily %v body %d agent %s headers %v paused %s", s.Delay, s.Parallel, s.Retries,
			s.Daily, s.MaxBody, s.UserAgent, s.Headers, s.Paused)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", host, got, want)
		}
	}
	if n := len(b.For("data.example.org:8443")); n != 4 {
		t.Errorf("%d rules concern data.example.org:8443, want 4", n)
	}
}

func TestOrdersSurviveARestartAndHavePrecedenceOverTheFile(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	file := rules(t, "[[host]]\nmatch = \"a.example\"\ndelay = \"5s\"\npaused = \"by the file\"\n")
	open := func() *Book {
		b, err := NewBook(Options{DB: db, Base: Settings{Delay: time.Second}, File: file})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := open()
	if _, err := b.Change(t.Context(), "A.example", func(r *Rule) error { return r.Set("delay", "30s") }); err != nil {
		t.Fatal(err)
	}
	if err := b.Resume(t.Context(), "a.example"); err != nil {
		t.Fatal(err)
	}
	if err := b.Pause(t.Context(), "*.example", "the network is being moved"); err != nil {
		t.Fatal(err)
	}
	b = open()
	if s := b.Of("a.example"); s.Delay != 30*time.Second || s.Paused != "" {
		t.Errorf("a.example: %v, paused %q", s.Delay, s.Paused)
	}
	if s := b.Of("b.example"); s.Paused != "the network is being moved" {
		t.Errorf("b.example: paused %q", s.Paused)
	}
	if err := b.Remove(t.Context(), "a.example"); err != nil {
		t.Fatal(err)
	}
	if s := open().Of("a.example"); s.Delay != 5*time.Second || s.Paused != "by the file" {
		t.Errorf("after Remove: %v, paused %q", s.Delay, s.Paused)
	}
	if err := b.Remove(t.Context(), "a.example"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a second Remove: %v", err)
	}
	if err := b.Resume(t.Context(), "*.example"); err != nil || len(open().List()) != 1 {
		t.Errorf("a rule that sets nothing stays: %v, %v", open().List(), err)
	}
}

func TestTheCommandLineSaysFirstWhereAHostIsThenAnOrderThenTheFile(t *testing.T) {
	t.Parallel()
	flag, err := ParseResolve("a.example=[::1]:8081")
	if err != nil {
		t.Fatal(err)
	}
	file := rules(t,
		"[[host]]\nmatch = \"*.example\"\nresolve = \"192.0.2.1\"\n[[host]]\nmatch = \"b.example\"\nresolve = \"192.0.2.2:80\"\n")
	b, err := NewBook(Options{File: file, Flags: []Rule{flag}})
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range []string{"a.example", "b.example"} {
		if _, err := b.Change(t.Context(), match, func(r *Rule) error { return r.Set("resolve", "192.0.2.3") }); err != nil {
			t.Fatal(err)
		}
	}
	for host, want := range map[string]string{"a.example": "[::1]:8081", "a.example:8080": "[::1]:8081", "b.example": "192.0.2.3",
		"c.example": "192.0.2.1", "d.test": ""} {
		if got := b.Of(host).Resolve.String(); got != want {
			t.Errorf("%s is at %q, want %q", host, got, want)
		}
	}
	for _, text := range []string{"a.example", "a.example=", "=192.0.2.1", "a.example=b.example", "a.example=192.0.2.1:http",
		"a.example=192.0.2.1:0", "http://a.example/=192.0.2.1"} {
		if r, err := ParseResolve(text); err == nil {
			t.Errorf("%q is taken as %v", text, r.Lines())
		}
	}
}

func TestRulesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`match = ""`:                                          "neither a host",
		`match = "http://a.example/"`:                         "neither a host",
		`match = "*.*.example"`:                               "neither a host",
		`match = "*.a.example:8080"`:                          "neither a host",
		`match = "/(/"`:                                       "error parsing regexp",
		"match = \"*\"\nrobots = \"ignore\"":                  "robots-by",
		"match = \"*\"\nrobots = \"never\"":                   "ignore or obey",
		"match = \"*\"\nparallel = 1000":                      "parallel 1000",
		"match = \"*\"\nretries = 9":                          "retries 9",
		"match = \"*\"\ndelay = \"-1s\"":                      "delay",
		"match = \"*\"\nproxy = \"ftp://a\"":                  "expected http://",
		"match = \"*\"\nproxy = \"http://u:p@a/\"":            "secrets file",
		"match = \"*\"\nproxy = \"u:p@a:3128\"":               "has no user and password",
		"match = \"*\"\nproxy = \"http://u:%zz@a/\"":          "has no user and password",
		"match = \"*\"\nsecret = \"nowhere\"":                 `no section "nowhere"`,
		"match = \"*\"\nheaders = { Cookie = \"a=b\" }":       "belongs into the secrets file",
		"match = \"*\"\nheaders = { Authorization = \"x\" }":  "belongs into the secrets file",
		"match = \"*\"\nheaders = { Host = \"x\" }":           "cannot be set",
		"match = \"*\"\nheaders = { X = \"a\\r\\nEvil: b\" }": "control characters",
		"match = \"*\"\nnote = \"a\\u0000b\"":                 "control characters",
	} {
		_, err := NewBook(Options{File: rules(t, "[[host]]\n"+text)})
		if !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

const secretText = `
[portal]
user = "hunter-user"
password = "hunter-pass"
cookie = "session=hunter-cookie"
headers = { X-API-Key = "hunter-key" }
[token]
bearer = "hunter-bearer"
plain = true
`

func TestASecretPrintsAsItsName(t *testing.T) {
	t.Parallel()
	secrets, err := ReadSecrets(secretsFile(t, secretText))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(Options{Secrets: secrets,
		File: []Rule{{Match: "a.example", Secret: "portal", Proxy: "http://127.0.0.1:1", ProxySecret: "token"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := b.Of("a.example")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "settings", s, "secret", s.Secret, "proxy", s.Proxy)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "settings", s, "secret", s.Secret, "proxy", s.Proxy)
	fmt.Fprintf(&log, "%v %+v %#v %s %q %x %d", s, s, s, s.Secret, s.Secret, s.Secret, s.Secret)
	for _, v := range []any{s, s.Secret, b.List(), b.For("a.example"), secrets} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(raw)
	}
	if strings.Contains(log.String(), "hunter") || strings.Contains(log.String(), fmt.Sprintf("%x", "hunter")) {
		t.Errorf("a secret is shown: %s", log.String())
	}
}

func TestASecretsFileIsPrivateAndItsErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	open := secretsFile(t, secretText)
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecrets(open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that a group may read: %v", err)
	}
	for _, text := range []string{
		"[a]\npassword = hunter2", "[a]\npassword = \"hunter2", "hunter2", "[a]\npassword = [\"hunter2\"]", "a = \"hunter2\"",
		"[a]\ncookie = \"hunter2\\n\"", "[a]\nheaders = { X = \"hunter2\\r\\n\" }", "[a]\nuser = \"hunter2:x\"",
	} {
		_, err := ReadSecrets(secretsFile(t, text))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadSecrets(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestTheLoginOfTheProgramsProxyIsReadAgain(t *testing.T) {
	t.Parallel()
	read := func(password string) map[string]*Secret {
		secrets, err := ReadSecrets(secretsFile(t, "[way]\nuser = \"u\"\npassword = \""+password+"\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return secrets
	}
	proxy, err := ParseProxy("http://127.0.0.1:3128")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(Options{Base: Settings{Proxy: proxy}, ProxySecret: "way", Secrets: read("old")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		secrets map[string]*Secret
		want    string
	}{{nil, "old"}, {read("new"), "new"}, {map[string]*Secret{}, "new"}} { // one without the section is refused
		if c.secrets != nil {
			err = b.Replace(Settings{Proxy: proxy}, "way", nil, c.secrets)
		}
		if _, got, _ := b.Of("a.example").Proxy.Secret.Login(); got != c.want {
			t.Errorf("password %q, want %q (%v)", got, c.want, err)
		}
	}
	if !errors.Is(err, ErrBad) {
		t.Errorf("a file without the section: %v", err)
	}
}

func TestHostsWhoseSecretIsGoneAreNotAskedWithoutIt(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	secrets, err := ReadSecrets(secretsFile(t, secretText))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(Options{DB: db, Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set(t.Context(), Rule{Match: "a.example", Secret: "portal"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Set(t.Context(), Rule{Match: "a.example", Secret: "nowhere"}); !errors.Is(err, ErrBad) {
		t.Errorf("an unknown secret: %v", err)
	}
	b, err = NewBook(Options{DB: db}) // without the file
	if err != nil {
		t.Fatal(err)
	}
	if s := b.Of("a.example"); !strings.Contains(s.Paused, `no section "portal"`) {
		t.Errorf("paused %q", s.Paused)
	}
}

func FuzzRule(f *testing.F) {
	for _, r := range []string{"delay\x0010s", "header.X\x00y", "resolve\x00[::1]:80", "daily\x005%", "max-body\x001GiB",
		"robots\x00ignore", "proxy\x00socks5h://a:1", "paused\x00why", "header.X\x00\xf0"} {
		name, value, _ := strings.Cut(r, "\x00")
		f.Add("*.example.org", name, value)
	}
	f.Fuzz(func(t *testing.T, match, name, value string) {
		r := Rule{Match: match}
		if r.Set(name, value) != nil || r.Check() != nil {
			return
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Rule
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if again, _ := json.Marshal(back); string(again) != string(raw) {
			t.Fatalf("%s became %s", raw, again)
		}
		if canonical(canonical(match)) != canonical(match) {
			t.Fatalf("%q: %q, %q", match, canonical(match), canonical(canonical(match)))
		}
		if back.Match = canonical(match); back.Check() != nil {
			t.Fatalf("%q became %q", match, back.Match)
		}
	})
}
