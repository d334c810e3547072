package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"odarchive/crawler"
)

func TestAListWhoseRegistrationIsKilledIsRegisteredOnce(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var list strings.Builder
	const urls = 3 * crawler.SeedsPerTxn
	for i := range urls {
		fmt.Fprintf(&list, "http://h%d.example/%d.csv\n", i%9, i)
	}
	program, err := exec.LookPath("odarchive") // testscript added it to the PATH
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "add", "--data", data, "--file", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, list.String()[:list.Len()/2]); err != nil { // the command waits for the rest
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	var out bytes.Buffer
	for range 2 {
		out.Reset()
		if status := run(t.Context(), []string{"add", "--data", data, "--file", "-"}, strings.NewReader(list.String()), &out,
			io.Discard); status != 0 {
			t.Fatalf("status %d", status)
		}
	}
	if want := fmt.Sprintf("%d given, 0 new\n", urls); out.String() != want {
		t.Errorf("the last run printed %q, want %q", out.String(), want)
	}
	out.Reset()
	run(t.Context(), []string{"stats", "--data", data, "--json"}, nil, &out, io.Discard)
	var stats struct{ Resources int }
	if err := json.Unmarshal(out.Bytes(), &stats); err != nil || stats.Resources != urls {
		t.Errorf("%d resources are registered, %v; want %d", stats.Resources, err, urls)
	}
}
