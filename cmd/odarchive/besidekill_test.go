package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
)

// holding starts a server that holds the directory, and waits until commands reach it.
func holding(t *testing.T, data string) (kill func()) {
	t.Helper()
	server := launch(t, "serve", "--no-crawl", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error")
	for begun := time.Now(); faces.HolderOf(t.Context(), data) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the server does not answer")
		}
	}
	return func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	}
}

// A load beside a server is there whole or not at all, whoever is killed and when. What a client was told is loaded is
// there.
func TestAKilledClientOrServerLeavesNoHalfLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "archive"), filepath.Join(dir, "many.nt")
	const statements = 60_000
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range statements {
		fmt.Fprintf(w, "<http://x.example/s%d> <http://x.example/p> \"%d\" .\n", i, i)
	}
	if err := w.Flush(); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	odarchive(t, "update", "--data", data, "INSERT DATA { <http://x.example/s> <http://x.example/p> 0 }")
	kill := holding(t, data)
	defer func() { kill() }()
	count := func(graph string) string {
		t.Helper()
		status, out, errs := says(t, "query", "--data", data, "--format", "csv",
			"SELECT (COUNT(*) AS ?n) { GRAPH <"+graph+"> { ?s ?p ?o } }")
		if status != 0 {
			t.Fatalf("%d %s", status, errs)
		}
		return strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(out, "\r", ""), "n\n"))
	}
	whole := fmt.Sprint(statements)
	var loaded []string
	for i := range 12 {
		graph := fmt.Sprintf("http://x.example/g%d", i)
		client := launch(t, "load", file, "--graph", graph, "--data", data)
		time.Sleep(time.Duration(20+i*45) * time.Millisecond) // the delay is the point of the test; nothing waits for an effect
		if i%2 == 0 {
			_ = client.Process.Kill()
		} else {
			kill()
		}
		if client.Wait() == nil {
			loaded = append(loaded, graph)
		}
		if i%2 == 1 {
			kill = holding(t, data)
		}
		if n := count(graph); n != "0" && n != whole {
			t.Errorf("%s has %s of %s statements", graph, n, whole)
		}
	}
	for _, graph := range loaded {
		if n := count(graph); n != whole {
			t.Errorf("%s was loaded, and has %s of %s statements", graph, n, whole)
		}
	}
	kill()
	if status, out, errs := says(t, "check", "--data", data); status != 0 {
		t.Errorf("check: %d %s %s", status, out, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "*", "load-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
