package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var may = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func TestATarballDoesNotDependOnWhoWritesIt(t *testing.T) {
	t.Parallel()
	var first []byte
	for range 2 {
		dir := t.TempDir()
		program := filepath.Join(dir, "program")
		if err := os.WriteFile(program, []byte("machine code"), 0o600); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "x.tar.gz")
		all := tree{"b/c/d": {data: []byte("d")}, "a": {path: program, mode: 0o755}, "b/a": {data: []byte("long")},
			"systemd/unit": {data: []byte("u")}}
		if err := all.without("systemd/").below("x").writeTarball(name, may); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = raw
		}
		if !bytes.Equal(raw, first) {
			t.Error("the second tarball differs from the first")
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name+" "+fs.FileMode(h.Mode).String())
		if !h.ModTime.Equal(may) || h.Uid != 0 || h.Uname != "root" {
			t.Errorf("%s is of %s and belongs to %s", h.Name, h.ModTime, h.Uname)
		}
	}
	want := []string{"x/ -rwxr-xr-x", "x/a -rwxr-xr-x", "x/b/ -rwxr-xr-x", "x/b/a -rw-r--r--", "x/b/c/ -rwxr-xr-x", "x/b/c/d -rw-r--r--"}
	if !slices.Equal(names, want) {
		t.Errorf("it has %q, want %q", names, want)
	}
}

func TestOnlyFormerPackagesAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"odarchive_1.0.0_linux_amd64.tar.gz", "odarchive_1.0.0_amd64.deb", sumsName, "odarchive_notes.txt",
		"other_1.0.0_amd64.deb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil || strings.Count(string(sums), "\n") != 2 || !strings.Contains(string(sums), "  odarchive_1.0.0_amd64.deb\n") {
		t.Errorf("checksums %q, %v", sums, err)
	}
	if err := removeOld(dir); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left are %q, %v", left, err)
	}
	if err := removeOld(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}

func TestDebianOrdersVersionsAsWeDo(t *testing.T) {
	t.Parallel()
	ordered := []string{unknown, "0.0.0-20261123112947-08ee420d4445", "0.0.0-20261123112947-08ee420d4445+dirty",
		"0.0.0-20261124000000-000000000000", "1.0.0-rc.1", "1.0.0", "1.0.1-0.20270101000000-08ee420d4445", "1.0.1", "1.2.0"}
	want := []string{"0~devel", "0.0.0~20261123112947.08ee420d4445", "0.0.0~20261123112947.08ee420d4445+dirty",
		"0.0.0~20261124000000.000000000000", "1.0.0~rc.1", "1.0.0", "1.0.1~0.20270101000000.08ee420d4445", "1.0.1", "1.2.0"}
	dpkg, lookErr := exec.LookPath("dpkg")
	for i, version := range ordered {
		if got := debianVersion(version); got != want[i] {
			t.Errorf("%s is %s for Debian, want %s", version, got, want[i])
		}
		if i == 0 || lookErr != nil {
			continue
		}
		if err := exec.CommandContext(t.Context(), dpkg, "--compare-versions", want[i-1], "lt", want[i]).Run(); err != nil {
			t.Errorf("dpkg does not find %s less than %s: %v", want[i-1], want[i], err)
		}
	}
}

// The services may do what they must, and little else.
func TestTheServicesAreConfined(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	units, err := filepath.Glob(filepath.Join("..", "systemd", "*.service"))
	if err != nil || len(units) != 3 {
		t.Fatalf("units %q, %v", units, err)
	}
	for _, unit := range units {
		t.Run(filepath.Base(unit), func(t *testing.T) { confined(t, analyze, unit) })
	}
}

func confined(t *testing.T, analyze, unit string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "--threshold=15",
		unit).CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("exposure level")) {
		t.Errorf("%v\n%s", err, out)
	} else if err != nil {
		t.Skipf("systemd-analyze does not know how to: %v\n%s", err, out)
	}
}

func TestWrongUsageBuildsNothing(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{{"-only", "plan9_mips"}, {"-nonsense"}} {
		if err := run(t.Context(), append(args, "-out", out), io.Discard); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the directory: %v", err)
	}
}
