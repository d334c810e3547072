package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"odarchive/cmd/deploy/oci"
)

// imageSuffix ends the name of the archive with the image of containers.
const imageSuffix = "_oci.tar"

// nobody is the user and group of the container: a number, so that Kubernetes knows that it is not root.
const nobody = 65532

// image writes the image of containers for all Linux platforms that were built: the static program, the authorities'
// certificates, time zones, and nothing else, not even a shell.
func (r *release) image(ctx context.Context) error {
	base, err := r.baseLayer(ctx)
	if err != nil {
		return err
	}
	settings := imageSettings(r.version)
	var images []oci.Image
	for _, p := range r.platforms {
		if p.os != "linux" || r.built[p] == "" {
			continue
		}
		program, err := os.ReadFile(r.built[p])
		if err != nil {
			return err
		}
		images = append(images, oci.Image{
			Platform: oci.Platform{OS: p.os, Architecture: p.arch}, Settings: settings,
			Layers: []oci.Layer{base, {"usr/bin/odarchive": {Data: program, Mode: 0o755}}},
		})
	}
	if len(images) == 0 {
		return nil
	}
	name := filepath.Join(r.out, "odarchive_"+r.version+imageSuffix)
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	tag := strings.ReplaceAll(r.version, "+", "-") // a tag has no plus
	err = oci.Write(out, "odarchive:"+tag, r.time, images)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(r.log, name)
	return nil
}

// imageAlone builds the programs that the image needs, the image, and its checksum.
func (r *release) imageAlone(ctx context.Context, host string) error {
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		if _, err := r.program(ctx, p, host); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := r.image(ctx); err != nil {
		return err
	}
	return writeSums(r.out)
}

// imageSettings say how a container runs: not as root, with everything that is written in /data and /tmp.
func imageSettings(version string) oci.Settings {
	return oci.Settings{
		User:         fmt.Sprintf("%d:%d", nobody, nobody),
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Env:          []string{"PATH=/usr/bin", "HOME=/data", "ODARCHIVE_DATA=/data", "ODARCHIVE_LISTEN=0.0.0.0:8080"},
		Entrypoint:   []string{"/usr/bin/odarchive"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/data",
		StopSignal:   "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "odarchive",
			"org.opencontainers.image.description": "archive of open data: every version of every file, as linked data",
			"org.opencontainers.image.version":     version,
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
}

// baseLayer returns what the images of all platforms have.
func (r *release) baseLayer(ctx context.Context) (oci.Layer, error) {
	roots, err := r.output(ctx, []string{"CGO_ENABLED=0"}, "go", "-C", filepath.Join(r.root, "cmd", "deploy", "roots"), "run",
		"-buildvcs=false", "-trimpath", ".")
	if err != nil {
		return nil, err
	}
	l := oci.Layer{
		"data": {Dir: true, Mode: 0o750, UID: nobody, GID: nobody},
		"tmp":  {Dir: true, Mode: 0o1777},
		"etc/passwd": {
			Data: []byte("root:x:0:0:root:/:/sbin/nologin\nodarchive:x:65532:65532:ODArchive:/data:/sbin/nologin\n"), Mode: 0o644},
		"etc/group":                         {Data: []byte("root:x:0:\nodarchive:x:65532:\n"), Mode: 0o644},
		"etc/ssl/certs/ca-certificates.crt": {Data: roots, Mode: 0o644},
	}
	if err := r.zones(ctx, l); err != nil {
		return nil, err
	}
	for name, from := range map[string]string{"LICENSE": "LICENSE", "NOTICE": "NOTICE",
		"THIRD-PARTY.txt": "cmd/internal/licences/third_party.txt"} {
		data, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(from)))
		if err != nil {
			return nil, err
		}
		l["usr/share/doc/odarchive/"+name] = oci.File{Data: data, Mode: 0o644}
	}
	return l, nil
}

// zones adds the time zones that come with Go, which --hours and TZ need.
func (r *release) zones(ctx context.Context, l oci.Layer) error {
	goroot, err := r.output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(goroot)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return err
	}
	in, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return err
	}
	for _, f := range in.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(from)
		from.Close()
		if err != nil {
			return fmt.Errorf("zoneinfo.zip: %s: %w", f.Name, err)
		}
		l[path.Join("usr/share/zoneinfo", f.Name)] = oci.File{Data: data, Mode: 0o644}
	}
	return nil
}
