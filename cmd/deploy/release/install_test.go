package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// checkout copies the sources to a directory.
func checkout(t *testing.T) string {
	t.Helper()
	from, to := filepath.Join("..", "..", ".."), t.TempDir()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && rel != "." && d.Name() != ".gitkeep" || rel == "bin" || d.Name() == "node_modules" ||
			d.Name() == "testdata" && rel != "testdata" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	// The bill of materials of pages with scripts needs node_modules, which are large.
	if err := os.RemoveAll(filepath.Join(to, "ui", "dist", "manifest.json")); err != nil {
		t.Fatal(err)
	}
	return to
}

// packagesOf builds the packages of a checkout for this machine, and returns their directory. It runs
// the command, without the race detector: compressing programs takes many times as long with it, and nothing is
// concurrent.
func packagesOf(t *testing.T, command, root, version string, more ...string) string {
	t.Helper()
	out := t.TempDir()
	args := append([]string{"-out", out, "-version", version, "-maintainer", "Somebody <somebody@archive.example>", "-only",
		platform{runtime.GOOS, runtime.GOARCH}.String()}, more...)
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// Packages are the same wherever they are built, and a machine that has one is upgraded, cleaned and left with its
// archive.
func TestPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the whole program several times")
	}
	if runtime.GOOS != "linux" {
		t.Skip("builds a .deb")
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -mod=readonly")
	t.Setenv("SOURCE_DATE_EPOCH", "1777863721")
	t.Setenv("CGO_ENABLED", "0")
	for dir, what := range map[string]string{
		"../nfpm":  "github.com/goreleaser/nfpm/v2/cmd/nfpm",
		"../roots": ".",
	} {
		// The flags are those of a release, which then finds this in the build cache.
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", dir, "-buildvcs=false", "-trimpath", "-o", os.DevNull,
			what).CombinedOutput(); err != nil {
			t.Skipf("%s cannot be built here ('go -C cmd/deploy/%s mod download' fetches what it needs): %v\n%s", what, filepath.Base(dir),
				err, out)
		}
	}
	command := filepath.Join(t.TempDir(), "release")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", command, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	one, two := checkout(t), checkout(t)
	first := packagesOf(t, command, one, "v1.0.0")
	t.Run("are the same wherever they are built", func(t *testing.T) {
		second := packagesOf(t, command, two, "v1.0.0")
		a, err := os.ReadFile(filepath.Join(first, sumsName))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, sumsName))
		if err != nil || !bytes.Equal(a, b) || strings.Count(string(a), "\n") != 4 {
			t.Errorf("the checksums of one are\n%sof the other (%v)\n%s", a, err, b)
		}
	})
	t.Run("are installed and upgraded and removed while the archive stays", func(t *testing.T) {
		install(t, first, packagesOf(t, command, one, "v1.1.0", "-no-image")) // the image of the first is run below
	})
	t.Run("run as a container that can write its data only", func(t *testing.T) { runImage(t, first) })
	t.Run("become a service by the page that says how", func(t *testing.T) { followService(t, first) })
}

// install runs testdata/install.sh with the packages of two versions.
func install(t *testing.T, first, second string) {
	t.Helper()
	packages := t.TempDir()
	for from, to := range map[string]string{first: "first.deb", second: "second.deb"} {
		found, err := filepath.Glob(filepath.Join(from, "*.deb"))
		if err != nil || len(found) != 1 {
			t.Fatalf("packages %q, %v", found, err)
		}
		raw, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(packages, to), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile(filepath.Join("testdata", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	inCopy(t, packages, string(script))
}

// inCopy runs a script as root in a copy of this machine's files, which nothing outside of it sees, with processes and
// a network of its own. The files of packages are in /packages.
func inCopy(t *testing.T, packages, script string) {
	t.Helper()
	for _, name := range []string{"dpkg", "unshare", "setpriv", "systemd-sysusers"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "script.sh")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "top")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	enter := `mount -t tmpfs none "$1" && mkdir "$1/new" "$1/work" "$1/root" &&
mount -t overlay none -o "lowerdir=/,upperdir=$1/new,workdir=$1/work" "$1/root" &&
mount -t proc none "$1/root/proc" && mount --rbind /dev "$1/root/dev" || exit 77
mkdir -p "$1/root/packages" && cp "$2"/* "$3" "$1/root/packages" && exec chroot "$1/root" sh -eu /packages/script.sh`
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--", "sh", "-c", enter, "sh",
		top, packages, name)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin") // of chroot, and of what packages call
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	switch code := 0; {
	case err == nil:
		return
	case errors.As(err, &ended):
		code = ended.ExitCode()
		if code == 77 || code == 1 && bytes.HasPrefix(out, []byte("unshare:")) {
			t.Skipf("mounting needs rights that this test does not have: %s", out)
		}
	}
	t.Fatalf("%v\n%s", err, out)
}
