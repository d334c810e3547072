//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangups sends SIGHUP to this process, in which a server runs with a settings file, and logs to a file if log is not
// "".
type hangups struct {
	t        *testing.T
	log      string
	settings string
}

func newHangups(t *testing.T, settings, log string) hangups {
	t.Helper()
	signals := make(chan os.Signal, 1) // or a signal before the server listens would end the tests
	signal.Notify(signals, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(signals) })
	return hangups{t, log, settings}
}

// write replaces the settings file, whole: a hangup may be on its way.
func (h hangups) write(text string) {
	h.t.Helper()
	err := os.WriteFile(h.settings+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(h.settings+".new", h.settings)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// hangUp sends one signal.
func (h hangups) hangUp() {
	h.t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		h.t.Fatal(err)
	}
}

// until hangs up until the log has a line with all words, and returns that. The server may not listen yet.
func (h hangups) until(words ...string) string {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		h.hangUp()
		if line := h.find(words...); line != "" {
			return line
		}
	}
	text, _ := os.ReadFile(h.log)
	h.t.Fatalf("no line with %q in\n%s", words, text)
	return ""
}

func (h hangups) find(words ...string) string {
	text, err := os.ReadFile(h.log)
	if err != nil {
		return "" // it was renamed
	}
lines:
	for line := range strings.Lines(string(text)) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		return line
	}
	return ""
}

func getText(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAHangupReloadsTheSettingsAndSaysWhatHasChanged(t *testing.T) {
	dir := t.TempDir()
	log, file := filepath.Join(dir, "log"), filepath.Join(dir, "odarchive.toml")
	h := newHangups(t, file, log)
	h.write("host-delay = \"9s\"\nlisten = \"127.0.0.1:0\"\nproxy = \"\"\n[[host]]\nmatch = \"a.example\"\ndelay = \"1s\"\n")
	base := start(t, []string{"--config", file, "--data", filepath.Join(dir, "data"), "--log-file", log, "--log-format", "json", "serve",
		"--token", "secret", "--workers", "3"})

	h.write(
		"host-delay = \"2s\"\nhours = \"01:00-02:00\"\nbandwidth = \"1MiB\"\nworkers = 7\nlisten = \"127.0.0.1:1\"\nproxy = " +
			"\"http://127.0.0.1:3128\"\nlog-level = \"debug\"\n" +
			"[scope]\ndeny = [\"host:b.example\"]\n[[host]]\nmatch = \"c.example\"\ndelay = \"5s\"\n")
	h.until(`"setting":"host-delay"`, `"before":"9s"`, `"now":"2s"`)
	h.until("the settings were read again")
	for _, words := range [][]string{
		{`"setting":"hours"`, `"now":"01:00-02:00"`}, {`"setting":"bandwidth"`, "1.0 MiB"}, {`"setting":"scope-deny"`, "host:b.example"},
		{`"setting":"log-level"`, "debug"},
		{"changes at the next start", `"setting":"listen"`, "127.0.0.1:1"}, {`"setting":"proxy"`, "not shown"},
		{"a.example", `"now":""`}, {"c.example", "5s"},
	} {
		if h.find(words...) == "" {
			t.Errorf("no line with %q", words)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("127.0.0.1:3128")) || bytes.Contains(text, []byte(`"workers"`)) { // the command line has precedence
		t.Errorf("the log has what it must not: %s", text)
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
	}
	status := getText(t, base+"/crawl/status")
	if !strings.Contains(status, "01:00") {
		t.Errorf("the crawl does not follow the hours: %s", status)
	}
	if refused := getText(t, base+"/crawl/scope/test?url=http://b.example/x"); !strings.Contains(refused, "b.example") {
		t.Errorf("the scope is not followed: %s", refused)
	}

	for text, words := range map[string]string{"host-delay = \"2 parsecs\"\n": "parsecs", "wrokers = 3\n": "wrokers",
		"hours = \"noon\"\n": "noon", "[[host]]\nmatch = \"x\"\nsecret = \"gone\"\n": "gone", "= = =": "odarchive.toml"} {
		h.write(text)
		h.until("the settings stay as they were", words)
	}
	if status := getText(t, base+"/crawl/status"); !strings.Contains(status, "01:00") {
		t.Errorf("a faulty file has changed settings: %s", status)
	}

	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	h.until("the settings stay as they were") // in the new log
	h.write("")                               // all defaults
	h.until(`"setting":"hours"`, `"now":""`)
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new log: %v, %v", info, err)
	}
}

// A server whose settings come out of a pipe waits for them, and ends all the same when it shall.
func TestAServerEndsWhileItWaitsForItsSettings(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "odarchive.toml"), filepath.Join(dir, "log")
	h := newHangups(t, file, log)
	h.write("")
	var in *os.File
	t.Cleanup(func() { in.Close() }) // after the server has ended
	start(t, []string{"--config", file, "--data", filepath.Join(dir, "data"), "--log-file", log, "serve", "--listen", "127.0.0.1:0",
		"--no-crawl"})
	err := syscall.Mkfifo(file+".pipe", 0o600)
	if err == nil {
		err = os.Rename(file+".pipe", file)
	}
	if err != nil {
		t.Skip("no named pipes here:", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		h.hangUp()
		if in, err = os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			return // somebody reads
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestALogFileIsNoPipeThatNobodyReads(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	if _, err := openLog(name); err == nil || !strings.Contains(err.Error(), "a pipe that nobody reads") {
		t.Errorf("openLog: %v", err)
	}
}
