package main

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// watched calls cancel when it has seen a text.
type watched struct {
	bytes.Buffer
	until string
	then  context.CancelFunc
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.until) {
		w.then()
	}
	return n, err
}

func TestTheDemoTakesANewcomerThroughTheMainJobAndEndsWellAtCtrlC(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, stderr := &watched{until: "6. Watch", then: cancel}, &bytes.Buffer{}
	if status := run(ctx, []string{"demo", "--listen", "127.0.0.1:0"}, strings.NewReader(""), out, stderr); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, stderr, out)
	}
	for _, step := range []string{"ODArchive demo", "version 0, text/csv", "4. Query", "text/csv", "withdrawn by its portal", "5. Download",
		"Open in a browser", "curl -G http://localhost"} {
		if !strings.Contains(out.String(), step) {
			t.Errorf("%q is not there\n%s", step, out)
		}
	}
}

// What a reader does who keeps the demo's archive: every command knows its hosts by name, without a setting, also when
// another demo has their ports.
func TestAKeptArchiveOfTheDemoLivesOn(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	demo := func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, stderr := &watched{until: "6. Watch", then: cancel}, &bytes.Buffer{}
		if status := run(ctx, []string{"demo", "--listen", "127.0.0.1:0", "--data", data}, strings.NewReader(""), out,
			stderr); status != 0 {
			t.Fatalf("status %d\n%s\n%s", status, stderr, out)
		}
		return out.String()
	}
	do := func(args ...string) string {
		var out bytes.Buffer
		if status := run(t.Context(), args, nil, &out, &out); status != 0 {
			t.Fatalf("%v: status %d\n%s", args, status, out.String())
		}
		return out.String()
	}
	demo()
	settings := do("host", "list", "--data", data)
	_, rest, _ := strings.Cut(settings, "resolve=")
	at, _, _ := strings.Cut(rest, " ")
	if taken, err := net.Listen("tcp", at); err == nil { // otherwise another process has it already
		defer taken.Close()
	}
	if out := do("harvest", "portalwatch", "http://portalwatch.example/sparql", "--data", data); !strings.Contains(out, "14 (0 new)") {
		t.Errorf("harvest:\n%s", out)
	}
	do("requeue", "city.example", "--data", data)
	do("crawl", "--once", "--data", data)
	if out := do("discover", "http://town.example/", "--data", data); !strings.Contains(out, "parks.csv") {
		t.Errorf("discover:\n%s", out)
	}
	if now := do("host", "list", "--data", data); now == settings {
		t.Errorf("the ports are taken, and the archive remembers them:\n%s", now)
	}
	do("host", "set", "city.example", "delay=1s", "note=what I know of it", "--data", data)
	do("host", "set", "library.example", "resolve=127.0.0.1:9", "--data", data)
	do("crawl", "--once", "--data", data)
	if now := do("host", "list", "--data", data); !strings.Contains(now, "delay=1s") || !strings.Contains(now, "what I know of it") ||
		!strings.Contains(now, "127.0.0.1:9") {
		t.Errorf("what a person has set stays:\n%s", now)
	}
	do("host", "set", "library.example", "resolve=", "--data", data)
	if out := demo(); !strings.Contains(out, "14 listings, 0 new URLs") || strings.Contains(out, "\n   \n") ||
		strings.Contains(out, "fetch the files politely") || strings.Contains(out, "refused") {
		t.Errorf("a second demo:\n%s", out)
	}
	var out bytes.Buffer
	if status := run(t.Context(), []string{"crawl", "--once", "--url", "http://127.0.0.2:8081/environment/trees.csv", "--data", data}, nil,
		&out, &out); status == 0 {
		t.Errorf("the address itself is fetched:\n%s", out.String())
	}
	// what asks the hosts is this server from now on
	start(t, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--data", data})
	if out := do("harvest", "portalwatch", "http://portalwatch.example/sparql", "--data", data); !strings.Contains(out, "14 (0 new)") {
		t.Errorf("harvest by the server:\n%s", out)
	}
}

func TestADryRunOfAHarvestHarvestsNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	for _, args := range [][]string{{"ckan", "http://127.0.0.1:1"}, {"auto", "--list", "-"}, {"http://127.0.0.1:1", "--every", "24h"}} {
		var out bytes.Buffer
		args = append([]string{"harvest", "--dry-run", "--data", data}, args...)
		if status := run(t.Context(), args, strings.NewReader(""), &out, &out); status != 2 ||
			!strings.Contains(out.String(), "--dry-run") {
			t.Errorf("%v: status %d, want 2\n%s", args, status, out.String())
		}
	}
}

func TestTheDemoVisitsNoFilesOfTheWorld(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	var out bytes.Buffer
	if status := run(t.Context(), []string{"add", "https://data.example.org/a.csv", "--data", data}, nil, &out, &out); status != 0 {
		t.Fatalf("add: status %d\n%s", status, out.String())
	}
	out.Reset()
	if status := run(t.Context(), []string{"demo", "--listen", "127.0.0.1:0", "--data", data}, nil, &out, &out); status != 1 ||
		!strings.Contains(out.String(), "data.example.org") {
		t.Errorf("status %d, want 1 and the name of the host\n%s", status, out.String())
	}
}

// The IRIs of an archive begin with the base that it got first, so that is where the demo listens again.
func TestTheDemoListensWhereTheAddressesOfItsArchiveAre(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://localhost:" + portOf("http://"+taken.Addr().String()) + "/"
	port := func(l net.Listener, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return portOf("http://" + l.Addr().String())
	}
	if got := port(demoListener("127.0.0.1:0", base, false)); got == portOf(base) {
		t.Errorf("it listens at a port that is taken")
	}
	taken.Close()
	if got := port(demoListener("127.0.0.1:0", base, false)); got != portOf(base) {
		t.Errorf("it listens at %s, and the archive is at %s", got, base)
	}
	if got := port(demoListener("127.0.0.1:0", "https://archive.example.org/", false)); got == "443" {
		t.Errorf("it listens at the port of a base that is not here")
	}
}

func TestTheDemoSaysWhatAnotherPortMeans(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "archive")
	demo := func(args ...string) (status int, said string) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, stderr := &watched{until: "1. Harvest", then: cancel}, &bytes.Buffer{}
		status = run(ctx, append([]string{"demo", "--listen", "127.0.0.1:0", "--data", data}, args...), strings.NewReader(""), out, stderr)
		return status, out.String() + stderr.String()
	}
	if status, said := demo("--base", "http://localhost:7/"); status != 0 ||
		!strings.Contains(said, "begin with http://localhost:7/, where nothing of it answers now") {
		t.Errorf("status %d\n%s", status, said)
	}
	if status, said := demo(); status != 0 || !strings.Contains(said, "begin with http://localhost:7/, where nothing of it answers now") {
		t.Errorf("again: status %d\n%s", status, said)
	}
}
