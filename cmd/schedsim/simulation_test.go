package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func play(t *testing.T, name string, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	s := &simulation{name: name, out: bufio.NewWriter(&out)}
	for _, l := range lines {
		if err := s.line(l); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestTheProtocolIsSpoken(t *testing.T) {
	t.Parallel()
	got := play(t, "paper", "INIT,2,1,10,21600,7776000,1e7", "URL,0,0,-1", "URL,1,0,86400", "READY", "FETCH,0,100,200,1,-1",
		"FETCH,0,604900,200,0,-1")
	want := "NEXT,0,0,1e+12\nNEXT,1,0,1e+12\nEND\nNEXT,0,604900,-604900\nEND\nNEXT,0,1.2097e+06,-1.2097e+06\nEND\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryFetchAndTickIsAnswered(t *testing.T) {
	t.Parallel()
	lines := []string{"INIT,3,1,10,21600,7776000,1e7", "READY"}
	for d := range 40 {
		lines = append(lines, fmt.Sprintf("FETCH,%d,%d,%d,%d,%d", d%3, d*86400+7, []int{200, 200, 404, 503}[d%4], []int{1, 0, 0, -1}[d%4],
			d%3*1000-1), fmt.Sprintf("TICK,%d", (d+1)*86400))
	}
	for _, name := range []string{"adaptive", "serve", "paper"} {
		got := play(t, name, lines...)
		if n := strings.Count(got, "END\n"); n != 81 {
			t.Errorf("%s: %d answers to 81 questions", name, n)
		}
		if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
			t.Errorf("%s: no number: %q", name, got)
		}
	}
}

func TestBadLinesAreErrors(t *testing.T) {
	t.Parallel()
	for _, l := range []string{"", "HELLO", "INIT,x", "FETCH,9,1,200,1,-1", "TICK", "URL,-1,0,0"} {
		s := &simulation{out: bufio.NewWriter(&bytes.Buffer{})}
		if err := s.line(l); err == nil {
			t.Errorf("%q was taken", l)
		}
	}
}
