package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/deploy/oci"
)

// readImage returns the archive of the image in dir, verified.
func readImage(t *testing.T, dir string) *oci.Archive {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+imageSuffix))
	if err != nil || len(found) != 1 {
		t.Fatalf("images %q, %v", found, err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := oci.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// runImage runs the image as a container would, until it serves, and stops it.
func runImage(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"unshare", "mount", "chroot", "curl", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("making a container needs the rights of root")
	}
	a := readImage(t, dir)
	at := slices.IndexFunc(a.Index.Manifests, func(d oci.Descriptor) bool { return d.Platform.Architecture == runtime.GOARCH })
	if at < 0 {
		t.Fatal("the image is not for this machine")
	}
	config, layers, err := a.Image(a.Index.Manifests[at])
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Config.StopSignal != "SIGTERM" {
		t.Errorf("it runs as %+v", config.Config)
	}
	root, top := t.TempDir(), t.TempDir()
	for _, l := range layers {
		if err := oci.Unpack(l, root, os.Chown); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"etc/ssl/certs/ca-certificates.crt", "usr/share/zoneinfo/Europe/Vienna",
		"usr/share/doc/odarchive/LICENSE"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	// A container as Kubernetes makes it: a root that cannot be written, /data and /tmp that can, a user without
	// rights, and /proc, which each container has (OCI Runtime Specification, "Default Filesystems"). The network is
	// its own, so that the port is free.
	const script = `ip link set lo up
mount -t tmpfs -o mode=755 none "$1" && mkdir "$1/data" && chown 65532:65532 "$1/data" || exit 77
mkdir -p "$2/proc" && mount --bind "$2" "$2" && mount -o remount,ro,bind "$2" || exit 77
mount --bind /proc "$2/proc" && mount --bind "$1/data" "$2/data" && mount -t tmpfs -o mode=1777 none "$2/tmp" || exit 77
inside="$2"; shift 2
if touch "$inside/etc/x" 2>/dev/null; then echo 'the root can be written'; exit 1; fi
env -i $ENVIRON "$(command -v chroot)" --userspec=65532:65532 "$inside" "$@" & pid=$!
for i in $(seq 600); do curl -sf http://127.0.0.1:8080/readyz >/dev/null && break; kill -0 $pid || exit 1; sleep 0.1; done
curl -sf 'http://127.0.0.1:8080/sparql?query=ASK%7B%7D' || exit 1
id=$(sed -n 's/^Uid:[[:space:]]*\([0-9]*\).*/\1/p' /proc/$pid/status); test "$id" = 65532 || { echo "it runs as $id"; exit 1; }
kill -TERM $pid; wait $pid; echo "status $?"
`
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{"--mount", "--net", "--", "sh", "-c", script, "sh", top, root},
		slices.Concat(config.Config.Entrypoint, config.Config.Cmd)...)
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env = append(os.Environ(), "ENVIRON="+strings.Join(config.Config.Env, " "))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("no file systems can be mounted here\n%s", out)
	}
	if err != nil || !bytes.HasSuffix(out, []byte("status 0\n")) {
		t.Errorf("%v\n%s", err, out)
	}
}
