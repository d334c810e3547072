//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"strings"
	"syscall"
	"testing"
	"time"
)

// essential are the programs used here that every Debian has.
var essential = []string{
	"sh", "sed", "find", "grep", "xargs", "cat", "cut", "head", "tail", "sort", "tr", "ls", "rm", "mkdir", "cp", "mv", "expand", "date",
	"env",
	"dirname", "mktemp", "tar", "gzip",
}

// bare returns a PATH with nothing but the essential programs and those named.
func bare(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(more, essential...) {
		found, err := exec.LookPath(name)
		if err == nil {
			found, err = filepath.EvalSymlinks(found)
		}
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(found, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// stub writes a shell script to a PATH.
func stub(t *testing.T, path, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// module returns the path of this module.
func module(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// makes is a make in dir under a PATH, without what this process was told by a make above.
func makes(ctx context.Context, dir, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(path, "make"), args...)
	cmd.Dir = dir
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "PATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GO", "NPM", "SUITE", "SLOWEST", "CGO_ENABLED", "GOFLAGS":
		default:
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+path, "GOPROXY=off", "LC_ALL=C", "npm_config_registry=http://127.0.0.1:1/")
	return cmd
}

// project copies what the recipes read before they build anything. Its sources are those of the pages only.
func project(t *testing.T) string {
	t.Helper()
	dir, top := t.TempDir(), "../../.."
	for _, name := range []string{"Makefile", "go.mod", ".ci/needs", ".ci/pages", "ui/package.json", "ui/package-lock.json",
		"ui/build.mjs"} {
		raw, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, raw, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "ui", "src"), os.DirFS(filepath.Join(top, "ui", "src"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// builds is a go command that makes a program which says what it was told.
const builds = `case "$1" in
build) while test "$1" != -o; do shift; done; mkdir -p bin; printf '#!/bin/sh\necho "odarchive $*"\n' >"$2"; /bin/chmod +x "$2";;
run) echo "go $*";;
esac
`

func TestBothCommandsSayWhatIsMissingAndHowItIsGot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, go_, demo, test, says string }{
		{"nothing but go and make", builds, "odarchive demo\n", "go run ./cmd/internal/suite ./...\n",
			"npm is not installed: the pages are built without scripts"},
		{"no git either", builds, "odarchive demo\n", "go run ./cmd/internal/suite ./...\n",
			"git is not installed: the program does not know its revision"},
		{"no go", "", "", "", "Go is not installed: version 1."},
		{"the go of Debian 12", `case "$1" in version) echo "go version go1.19.8 linux/amd64";; *) exit 1;; esac`, "", "",
			"go1.19.8 is too old: version 1."},
		{"a go that may fetch nothing",
			`case "$1" in version) echo "go version go1.24.4 linux/amd64";; *) echo "go: download go1.26.0: no network"; exit 1;; esac`,
			"", "", "go1.24.4 could not get Go 1."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, path := project(t), bare(t, "make")
			if c.go_ != "" {
				stub(t, path, "go", c.go_)
			}
			for target, want := range map[string]string{"demo": c.demo, "test": c.test} {
				out, err := makes(t.Context(), dir, path, target).CombinedOutput()
				if (err == nil) != (want != "") || !strings.HasSuffix(string(out), want) || strings.Count(string(out), c.says) != 1 {
					t.Errorf("make %s ends with %v and says\n%s\nwant %q and, once, %q", target, err, out, want, c.says)
				}
			}
		})
	}
}

func TestWhereTheNpmRegistryDoesNotAnswerThePagesArePlain(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for name, registry := range map[string]string{"refuses": "http://127.0.0.1:1/", "is silent": "http://" + silent.Addr().String() + "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, path := project(t), bare(t, "make", "node")
			npm, err := exec.LookPath("npm")
			if err != nil {
				t.Skip("npm is not installed")
			}
			if npm, err = filepath.EvalSymlinks(npm); err != nil {
				t.Fatal(err)
			}
			stub(t, path, "npm", `exec node "`+npm+`" "$@"`)
			stub(t, path, "go", builds)
			cmd := makes(t.Context(), dir, path, "demo")
			cmd.Env = append(cmd.Env, "npm_config_registry="+registry, "npm_config_cache="+t.TempDir())
			begin := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "The pages are built without scripts: the npm registry cannot be reached") ||
				!strings.HasSuffix(string(out), "odarchive demo\n") {
				t.Errorf("%v\n%s", err, out)
			}
			if took := time.Since(begin); took > time.Minute { // a few seconds where the machine has nothing else to do
				t.Errorf("it took %v", took)
			}
		})
	}
}

// As where a registry's metadata answers and its packages hang: npm itself then tries each of them for a minute.
func TestWhereNpmHangsThePagesArePlainAndNothingOfItIsLeft(t *testing.T) {
	t.Parallel()
	dir, path := project(t), bare(t, "make", "timeout", "sleep")
	stub(t, path, "npm", "case \"$*\" in *--offline*) exit 1 ;; ci*) sleep 300 & echo $! >\"$LEFT\"; wait ;; esac\n")
	stub(t, path, "go", builds)
	left := filepath.Join(t.TempDir(), "left")
	cmd := makes(t.Context(), dir, path, "demo")
	cmd.Env = append(cmd.Env, "PAGES_SECONDS=1", "LEFT="+left)
	out, err := cmd.CombinedOutput() // returns when all that has its output has ended
	if err != nil || !strings.Contains(string(out), "the npm registry did not send its packages within 1 s") ||
		!strings.HasSuffix(string(out), "odarchive demo\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error("npm ci did not run", err)
	}
}

// The build cache and the modules are here: this test was built of them.
func TestTheDemoRunsWithoutANetworkWhereOnlyGoNodeAndMakeAre(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the whole program")
	}
	path := bare(t, "make", "go", "node")
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Rel(top, filepath.Join(t.TempDir(), "odarchive"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := makes(ctx, top, path, "demo", "BIN="+program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Open in a browser") {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // as Ctrl-C does
			go io.Copy(io.Discard, out)
			break
		}
	}
	cmd.Wait()
	if !strings.Contains(said.String(), "Open in a browser") {
		t.Errorf("make demo says\n%s\n%s", &said, &errs)
	}
}

func TestTheTestsRunWithoutTheRaceDetectorWhereThereIsNoCCompiler(t *testing.T) {
	t.Parallel()
	out, err := makes(t.Context(), "../../..", bare(t, "make", "go"), "test", "SUITE=-n").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); strings.Count(text,
		"the tests run without the race detector, which needs a C compiler (in Debian: gcc libc6-dev)") != 1 ||
		strings.Contains(text, " -race ") || strings.Count(text, "go test -json ") != 1 ||
		!strings.Contains(text, module(t)+"/triplestore/kv ") {
		t.Errorf("make test says\n%s", text)
	}
}

func TestWhereThereIsACCompilerTheRaceDetectorIsUsed(t *testing.T) {
	t.Parallel()
	if err := probeRace(t.Context()); err != nil {
		t.Skip("a C compiler is not installed")
	}
	var out, errs bytes.Buffer
	module := module(t)
	if code := run(t.Context(), []string{"-n", module + "/triplestore/kv", module + "/triplestore/term"}, &out, &errs); code != 0 {
		t.Fatalf("%d %s", code, &errs)
	}
	want := "CGO_ENABLED=0 go test -json -trimpath -timeout=40m -vet=all " + module + "/triplestore/term\n" +
		"CGO_ENABLED=0 go vet -trimpath " + module + "/triplestore/kv\n" +
		"CGO_ENABLED=1 go test -json -trimpath -timeout=40m -race -vet=off " + module + "/triplestore/kv\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
