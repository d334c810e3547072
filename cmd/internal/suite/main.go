// Command suite runs the tests of packages, as `make test` does.
//
//	suite [-n] [-slowest N] [PACKAGE ...]
//
// Packages in which anything runs at the same time as something else are tested with the race detector (racy has the
// rule), the others without it, compiled as cmd/deploy/release compiles the program, so that both share the build
// cache. A test that skips itself with the words "only without the race detector" is run without. Where the race
// detector cannot be built, for want of a C compiler, one line says so and all tests run without it.
//
// The output is that of go test. The last line names what was left out: the reasons of all skipped tests, except those
// that begin with "only", which are about how a test is built and not about what the machine lacks, and the logged
// lines that begin with "left out: " of tests that passed. -slowest adds a table of the packages that took longest. -n
// prints the commands and runs none.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// limit is how long the tests of one package may take.
const limit = "-timeout=40m"

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("suite", flag.ContinueOnError)
	flags.SetOutput(errs)
	dry := flags.Bool("n", false, "print the commands and run none")
	slowest := flags.Int("slowest", 0, "print a table of the `N` slowest packages")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := list(ctx, patterns)
	if err != nil {
		fmt.Fprintln(errs, "suite:", err)
		return 1
	}
	s := session{out: out, errs: errs, dry: *dry, report: newReport(out)}
	racing, plain := split(packages)
	if err := probeRace(ctx); err != nil && len(racing) > 0 {
		fmt.Fprintf(out, "suite: the tests run without the race detector, which needs a C compiler (in Debian: gcc libc6-dev): %v\n", err)
		racing, plain = nil, append(plain, racing...)
	}
	slices.Sort(plain)
	s.test(ctx, plain, withoutRace, "-vet=all")
	s.vet(ctx, racing)
	s.test(ctx, racing, withRace, "-vet=off")
	for _, again := range s.report.onlyWithoutRace() {
		s.test(ctx, []string{again.pkg}, withoutRace, "-vet=off", "-run", again.pattern())
	}
	s.report.close(*slowest)
	if s.failed {
		return 1
	}
	return 0
}

// withRace and withoutRace are how tests are compiled.
var (
	withRace    = mode{cgo: "1", flags: []string{"-race"}}
	withoutRace = mode{cgo: "0"}
)

type mode struct {
	cgo   string
	flags []string
}

// session runs go test again and again, and remembers whether all was well.
type session struct {
	out, errs io.Writer
	dry       bool
	failed    bool
	report    *report
}

// test tests packages and reports on them.
func (s *session) test(ctx context.Context, packages []string, m mode, more ...string) {
	if len(packages) > 0 {
		s.run(ctx, m, func(events io.Reader) { s.report.read(events, len(m.flags) > 0) },
			slices.Concat([]string{"test", "-json", "-trimpath", limit}, m.flags, more, packages)...)
	}
}

// vet runs all checks of go vet on packages that are tested with the race detector. It is done without: go vet looks at
// what a package imports as well, which it has then done for the others.
func (s *session) vet(ctx context.Context, packages []string) {
	if len(packages) > 0 {
		s.run(ctx, withoutRace, func(text io.Reader) { io.Copy(s.out, text) }, append([]string{"vet", "-trimpath"}, packages...)...)
	}
}

func (s *session) run(ctx context.Context, m mode, read func(io.Reader), args ...string) {
	if s.dry {
		fmt.Fprintf(s.out, "CGO_ENABLED=%s go %s\n", m.cgo, strings.Join(args, " "))
		return
	}
	cmd := command(ctx, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+m.cgo)
	cmd.Stderr = s.errs
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(s.errs, "suite:", err)
		s.failed = true
		return
	}
	read(pipe)
	if err := cmd.Wait(); err != nil {
		s.failed = true
	}
}

// command is the go command, stopped by SIGTERM, so that it removes what it wrote.
func command(ctx context.Context, args ...string) *exec.Cmd {
	name := os.Getenv("GO")
	if name == "" {
		name = "go"
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd
}

// probeRace compiles what the race detector needs of C.
func probeRace(ctx context.Context) error {
	cmd := command(ctx, "build", "-race", "-trimpath", "runtime/cgo")
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+withRace.cgo)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%s", last)
	}
	return err
}
