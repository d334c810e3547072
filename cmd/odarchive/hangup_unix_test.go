//go:build unix

package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/operate/access"
)

func TestAHangupReadsTheSettingsOfHostsAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "odarchive.toml")
	h := newHangups(t, file, "")
	h.write("[[host]]\nmatch = \"a.example\"\ndelay = \"9s\"\n")
	base := start(t, []string{"--config", file, "--data", filepath.Join(dir, "data"), "serve", "--listen", "127.0.0.1:0", "--token",
		"secret", "--no-crawl"})
	delay := func() string {
		req, err := http.NewRequest(http.MethodGet, base+"/crawl/settings?host=a.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ text, want string }{
		{"", `"delay":"9s"`},
		{"[[host]]\nmatch = \"a.example\"\ndelay = \"3s\"\n", `"delay":"3s"`},
		{"[[host]]\nmatch = \"a.example\"\ndealy = \"4s\"\n", `"delay":"3s"`}, // what is wrong changes nothing
	} {
		deadline := time.Now().Add(time.Minute)
		for c.text != "" {
			h.write(c.text)
			h.hangUp()
			time.Sleep(20 * time.Millisecond)
			if strings.Contains(delay(), c.want) || time.Now().After(deadline) {
				break
			}
		}
		if got := delay(); !strings.Contains(got, c.want) {
			t.Errorf("after %q: %s", c.text, got)
		}
	}
}

func TestAHangupReadsTheTokensAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "odarchive.toml")
	h := newHangups(t, file, "")
	table := func(secret string) string {
		return "[[token]]\nname = \"chief\"\nrights = [\"admin\"]\nhash = \"" + access.FormatHash(access.Digest(secret)) + "\"\n"
	}
	h.write(table("first"))
	base := start(t, []string{"--config", file, "--data", filepath.Join(dir, "data"), "serve", "--listen", "127.0.0.1:0", "--no-crawl"})
	status := func(secret string) int {
		req, err := http.NewRequest(http.MethodGet, base+"/tokens", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status("first"); got != http.StatusOK {
		t.Fatalf("before: %d", got)
	}
	h.write(table("second"))
	for deadline := time.Now().Add(time.Minute); status("first") != http.StatusForbidden; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a token that is no longer in the settings is still valid")
		}
		h.hangUp()
	}
	if got := status("second"); got != http.StatusOK {
		t.Errorf("the new token: %d", got)
	}
	h.write("[[token]]\nname = \"chief\"\n") // what is wrong changes nothing
	h.hangUp()
	if got := status("second"); got != http.StatusOK {
		t.Errorf("after a broken table: %d", got)
	}
}
