// Command samplearchive makes an archive to look at: five open-data portals with several hundred datasets, more than a
// thousand files of over twenty types, and a year of monthly visits in which files change, move and disappear.
//
// It serves the portals on a loopback address, as a proxy for their names, and runs the commands of the odarchive
// binary beside it. What the portals say and what is in the files is generated, the same on every run.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"
)

func main() {
	program := flag.String("program", "bin/odarchive", "the odarchive `binary` to run")
	data := flag.String("data", "sample-archive", "`directory` of the new archive")
	base := flag.String("base", "http://localhost:8080/", "base `IRI` of the archive")
	months := flag.Int("months", 12, "`number` of monthly visits")
	ago := flag.Duration("ago", 0, "`time` since the last of them")
	every := flag.Int("every", 1, "take only every `n`th dataset")
	only := flag.String("only", "", "take only datasets whose names match this regular `expression`, such as ^(population|trees)-wien$")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	m := maker{program: *program, data: *data, base: *base, last: time.Now().UTC().Truncate(time.Minute).Add(-*ago),
		portals: portalsOf(*every)}
	names, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "samplearchive:", err)
		os.Exit(2)
	}
	m.portals = named(m.portals, names)
	if err := m.make(ctx, *months); err != nil {
		fmt.Fprintln(os.Stderr, "samplearchive:", err)
		os.Exit(1)
	}
	fmt.Printf("Made. Serve it with:\n  %s serve --no-crawl --data %s --base %s\n", m.program, m.data, m.base)
}

type maker struct {
	program, data, base string
	last                time.Time // of the last visits
	portals             []*portal
	month               atomic.Int64 // of the web: 0 for the first visit
}

func (m *maker) make(ctx context.Context, months int) error {
	if _, err := os.Stat(m.data); err == nil {
		return fmt.Errorf("%s exists", m.data)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newWeb(m.portals, func() int { return int(m.month.Load()) }), ReadHeaderTimeout: 10 * time.Second}
	defer server.Close()
	go func() { _ = server.Serve(l) }() // ends with http.ErrServerClosed
	fetch := []string{"--data", m.data, "--base", m.base, "--proxy", "http://" + l.Addr().String(), "--proxy-resolves",
		"--allow-private-hosts",
		"--host-delay", "0s", "--sitemaps=false", "--log-level", "error"}
	for _, p := range m.portals {
		if err := m.run(ctx, append([]string{"harvest", p.Kind, p.Source, "--portal", p.Home}, fetch...)...); err != nil {
			return err
		}
	}
	for i := range months {
		m.month.Store(int64(i))
		at := m.last.AddDate(0, i+1-months, 0)
		fmt.Println("The visits of " + at.Format("2 January 2006"))
		args := append([]string{"crawl", "--once", "--at", at.Format(time.RFC3339), "--min-interval", "24h", "--max-interval", "600h"},
			fetch...)
		if err := m.run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command of the program. A status of 1 means that something could not be read, which is part of the sample.
func (m *maker) run(ctx context.Context, args ...string) error {
	c := exec.CommandContext(ctx, m.program, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		if c.ProcessState != nil && c.ProcessState.ExitCode() == 1 && ctx.Err() == nil {
			return nil
		}
		return fmt.Errorf("odarchive %s: %w", args[0], err)
	}
	return nil
}

// seeded is a small generator of numbers that depends on nothing but its seed, so that every run makes the same files.
type seeded uint64

func seedOf(parts ...any) seeded {
	h := uint64(14695981039346656037)
	for _, c := range []byte(fmt.Sprint(parts...)) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return seeded(h)
}

// upTo returns a number from 0 to n-1.
func (s *seeded) upTo(n int) int {
	*s += 0x9e3779b97f4a7c15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(max(n, 1)))
}

func number(n int) string { return strconv.Itoa(n) }
