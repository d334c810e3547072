package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/sampleweb"
)

// archived fills a data directory with two states of the sample web's hosts. It returns the URL of one file.
func archived(t *testing.T, data string) (file string) {
	t.Helper()
	state := 0
	web, err := sampleweb.Start(sampleweb.Options{State: func() int { return state }})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	file = web.Base("city") + "environment/trees.csv"
	odarchive(t, "add", "--data", data, file, web.Base("city")+"transport/stops.tsv")
	for i, at := range []string{"2026-11-21T06:00:00Z", "2027-01-21T06:00:00Z"} {
		state = i
		odarchive(t, "crawl", "--once", "--allow-private-hosts", "--host-delay", "0s", "--at", at, "--data", data, "--log-level", "error")
	}
	return file
}

// readings returns command lines that only read, with texts of their output.
func readings(file string) map[string][]string {
	const trees = "SELECT ?v { <FILE> <http://purl.org/dc/terms/hasVersion> ?v }"
	query := strings.ReplaceAll(trees, "FILE", file)
	return map[string][]string{
		"api/v1/get/file": {"query", query},
		"hasVersion":      {"dump"},
		"tree":            {"get", file},
		"PK\x03\x04":      {"zip", query, "-o", "-"},
		"rows":            {"diff", file},
		"versions":        {"stats"},
		"0 damages":       {"check"},
		"due at":          {"schedule", file},
		"":                {"quality"},
	}
}

// tree returns every file of a directory with its digest and modification time.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		files[name] = fmt.Sprintf("%x %v", sha256.Sum256(raw), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// says runs a command line and returns its status and output.
func says(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

func TestReadOnlyCommandsWriteNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	file := archived(t, data)
	before := tree(t, data)
	for want, args := range readings(file) {
		status, out, stderr := says(t, append(args, "--read-only", "--data", data)...)
		if status != 0 || !strings.Contains(out, want) || stderr != "" && args[0] != "quality" {
			t.Errorf("%s: %d, %.300q, %q", args[0], status, out, stderr)
		}
	}
	if after := tree(t, data); !maps.Equal(before, after) {
		for name := range after {
			if before[name] != after[name] {
				t.Errorf("written: %s", name)
			}
		}
		if len(after) < len(before) {
			t.Error("files are gone")
		}
	}
	if status, _, stderr := says(t, "check", "--repair", "--read-only", "--data", data); status != 2 ||
		!strings.Contains(stderr, "--repair writes") {
		t.Errorf("repair: %d %s", status, stderr)
	}
}

func TestReadingCommandsGoOnBesideAProcessThatWrites(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	file := archived(t, data)
	holder := launch(t, "serve", "--no-crawl", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error")
	defer func() {
		if err := holder.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := holder.Wait(); err != nil {
			t.Error(err)
		}
	}()
	for begun := time.Now(); faces.HolderOf(t.Context(), data) == nil; {
		if time.Since(begun) > time.Minute {
			t.Fatal("the server does not answer")
		}
	}
	odarchive(t, "update", "--data", data, "INSERT DATA { <http://x.example/new> <http://x.example/p> 1 }")
	for want, args := range readings(file) {
		status, out, stderr := says(t, append(args, "--data", data)...)
		if status != 0 || !strings.Contains(out, want) || strings.Contains(stderr, "reading its last committed state") {
			// they ask the server
			t.Errorf("%s: %d, %.300q, %q", args[0], status, out, stderr)
		}
	}
	if _, out, _ := says(t, "query", "--data", data, "ASK { <http://x.example/new> ?p 1 }"); !strings.Contains(out, "true") {
		t.Errorf("the last commit is not seen: %s", out)
	}
}

func TestAServerForReadingServesAndRefusesToWrite(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	file := archived(t, data)
	before := tree(t, data)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--read-only", "--token", "secret", "--listen", address, "--data", data, "--log-level", "error"},
			strings.NewReader(""), io.Discard, io.Discard)
	}()
	ask := func(method, path, contentType, body string) (int, string) {
		t.Helper()
		for {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer secret")
			r.Header.Set("Content-Type", contentType)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				select {
				case status := <-done:
					t.Fatalf("serve ended with %d: %v", status, err)
				default:
				}
				continue // the server is starting
			}
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			return resp.StatusCode, string(raw)
		}
	}
	for _, c := range []struct {
		method, path, contentType, body string
		status                          int
		want                            string
	}{
		{"GET", "/readyz", "", "", 200, "ok: read-only\n"},
		{"GET", "/", "", "", 200, "open for reading only"},
		{"GET", "/fixity", "", "", 200, "The background check is off"},
		{"GET", "/get/file/" + file, "", "", 200, "tree"},
		{"GET", "/search?q=trees", "", "", 200, "trees.csv"},
		{"GET", "/dataset?url=" + file, "", "", 200, "trees.csv"},
		{"GET", "/sparql?query=ASK%20%7B%3Fs%20%3Fp%20%3Fo%7D", "", "", 200, "true"},
		{"GET", "/metrics", "", "", 200, `odarchive_state{state="read-only"} 1`},
		{"POST", "/sparql", "application/sparql-update", "INSERT DATA { <http://x.example/s> <http://x.example/p> 1 }", 403,
			"reading only"},
		{"POST", "/post/resource", "application/json", `{"href":"http://x.example/a.csv"}`, 403, "reading only"},
		{"POST", "/crawl/pause", "", "", 403, "reading only"},
		{"PUT", "/rdf-graph-store?graph=http://x.example/g", "text/turtle", "<http://x.example/s> <http://x.example/p> 1 .", 403,
			"reading only"},
		{"POST", "/check", "application/json", `{"repair":true}`, 403, "reading only"},
		{"POST", "/check", "application/json", ``, 200, `"damaged":[]`},
	} {
		if status, body := ask(c.method, c.path, c.contentType, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %.400s", c.method, c.path, status, body)
		}
	}
	stop()
	if status := <-done; status != 0 && status != 1 {
		t.Errorf("status %d", status)
	}
	if after := tree(t, data); !maps.Equal(before, after) {
		t.Error("something was written")
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
}
