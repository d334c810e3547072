package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// release builds the packages of one revision.
type release struct {
	root       string // of the checkout
	out        string
	version    string // at first the one given, "" if none is; then that of the program, without the v
	maintainer string
	platforms  []platform
	noDeb      bool
	noImage    bool
	imageOnly  bool // build nothing else
	log        io.Writer

	work  string              // directory of what is built on the way
	stamp string              // what the linker tells the program of itself; "" if Go found that out
	time  time.Time           // of all files
	built map[platform]string // the programs, by platform
}

func (r *release) run(ctx context.Context) (err error) {
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	r.work = filepath.Join(r.out, ".work")
	if err := removeOld(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)

	host, inventory := filepath.Join(r.work, "host"), filepath.Join(r.work, "inventory")
	if err := r.buildHost(ctx, host, inventory); err != nil {
		return err
	}
	r.built = map[platform]string{}
	if r.imageOnly {
		return r.imageAlone(ctx, host)
	}
	shared, err := r.shared(ctx, host)
	if err != nil {
		return err
	}
	nfpm := filepath.Join(r.work, "nfpm")
	if !r.noDeb {
		if err := r.tool(ctx, nfpm); err != nil {
			return err
		}
	}
	for _, p := range r.platforms {
		if err := r.pack(ctx, p, shared, host, inventory, nfpm); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if !r.noImage {
		if err := r.image(ctx); err != nil {
			return fmt.Errorf("image: %w", err)
		}
	}
	return writeSums(r.out)
}

// pack builds everything for one platform.
func (r *release) pack(ctx context.Context, p platform, shared tree, host, inventory, nfpm string) error {
	name := "odarchive_" + r.version + "_" + p.String()
	program, err := r.program(ctx, p, host)
	if err != nil {
		return err
	}
	bill, err := r.output(ctx, append(p.environ(), "CGO_ENABLED=0"), inventory, "sbom")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	all := shared.with("odarchive", file{path: program, mode: 0o755}).with("odarchive.cdx.json", file{data: bill})
	if p.os != "linux" {
		all = all.without("systemd/")
	}
	tarball := filepath.Join(r.out, name+".tar.gz")
	if err := all.below(name).writeTarball(tarball, r.time); err != nil {
		return err
	}
	fmt.Fprintln(r.log, tarball)
	if p.os != "linux" || r.noDeb {
		return nil
	}
	return r.deb(ctx, p, all, nfpm)
}

// program builds the program for a platform, unless it is that of host, and returns its path.
func (r *release) program(ctx context.Context, p platform, host string) (string, error) {
	program := host
	if p.os != runtime.GOOS || p.arch != runtime.GOARCH {
		program = filepath.Join(r.work, "odarchive_"+p.String())
		if err := r.build(ctx, p, program, "./cmd/odarchive"); err != nil {
			return "", err
		}
	}
	r.built[p] = program
	return program, nil
}

// build builds a program. The packages need nothing of the system that they run on, not even a C library.
func (r *release) build(ctx context.Context, p platform, to, pkg string) error {
	flags := "-s -w"
	if r.stamp != "" {
		flags += " -X main.stamp=" + r.stamp
	}
	_, err := r.output(ctx, append(p.environ(), "CGO_ENABLED=0"), "go", "build", "-trimpath", "-ldflags="+flags, "-o", to, pkg)
	return err
}

// environ returns the variables that have Go build for a platform: for its oldest processors, whatever this one is.
func (p platform) environ() []string {
	return []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0"}
}

// tool builds nfpm, as its module pins it.
func (r *release) tool(ctx context.Context, to string) error {
	_, err := r.output(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-C", filepath.Join(r.root, "cmd", "deploy", "nfpm"),
		"-buildvcs=false", "-trimpath", "-o", to, "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	return err
}

// output runs a program in the checkout and returns what it prints.
func (r *release) output(ctx context.Context, environ []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, &stdout, &stderr
	cmd.Env = append(os.Environ(), environ...)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, &stderr)
	}
	return stdout.Bytes(), nil
}
