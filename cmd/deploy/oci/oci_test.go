package oci

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var may = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func images() []Image {
	base := Layer{"etc/passwd": {Data: []byte("root"), Mode: 0o644}, "data": {Dir: true, Mode: 0o750, UID: 65532, GID: 65532},
		"tmp": {Dir: true, Mode: 0o1777}}
	of := func(arch string) Image {
		return Image{Platform{OS: "linux", Architecture: arch}, []Layer{base, {"usr/bin/program": {Data: []byte(arch), Mode: 0o755}}},
			Settings{User: "65532:65532", Entrypoint: []string{"/usr/bin/program"}}}
	}
	return []Image{of("amd64"), of("arm64")}
}

func written(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "program:1.2.3", may, images()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheSameImagesAreTheSameBytes(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(written(t), written(t)) {
		t.Error("the second archive differs from the first")
	}
}

func TestAnImageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	a, err := Read(bytes.NewReader(written(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.blobs) != 8 { // an index, two manifests, two configurations, a layer of both, two layers
		t.Errorf("%d blobs", len(a.blobs))
	}
	for i, arch := range []string{"amd64", "arm64"} {
		c, layers, err := a.Image(a.Index.Manifests[i])
		if err != nil || c.Architecture != arch || c.Config.User != "65532:65532" || !c.Created.Equal(may) || len(layers) != 2 {
			t.Fatalf("%+v, %d layers, %v", c, len(layers), err)
		}
		dir := t.TempDir()
		owners := map[string]int{}
		for _, l := range layers {
			if err := Unpack(l, dir, func(name string, uid, _ int) error { owners[filepath.Base(name)] = uid; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		program, err := os.ReadFile(filepath.Join(dir, "usr", "bin", "program"))
		if err != nil || string(program) != arch {
			t.Errorf("%q, %v", program, err)
		}
		tmp, err := os.Stat(filepath.Join(dir, "tmp"))
		if err != nil || tmp.Mode() != fs.ModeDir|fs.ModeSticky|0o777 || owners["data"] != 65532 || owners["program"] != 0 {
			t.Errorf("tmp %v, owners %v, %v", tmp, owners, err)
		}
	}
}

// Whatever is changed in an archive, reading it finds out.
func TestAnArchiveThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	whole := written(t)
	var names []string
	for in := tar.NewReader(bytes.NewReader(whole)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, h.Name)
		}
	}
	if !slices.Contains(names, "oci-layout") || len(names) != 10 {
		t.Fatalf("it has %q", names)
	}
	for _, victim := range names {
		for how, change := range map[string]func([]byte) []byte{
			"changed": func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 1; return b },
			"cut":     func(b []byte) []byte { return b[:len(b)-1] },
			"missing": func([]byte) []byte { return nil },
		} {
			if _, err := Read(bytes.NewReader(rewritten(t, whole, victim, change))); err == nil {
				t.Errorf("%s is %s, and nobody notices", victim, how)
			}
		}
	}
}

// rewritten returns an archive with one file changed; without it, if change returns nil.
func rewritten(t *testing.T, whole []byte, victim string, change func([]byte) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for in := tar.NewReader(bytes.NewReader(whole)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		data, readErr := io.ReadAll(in)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		if h.Name == victim {
			if data = change(data); data == nil {
				continue
			}
			h.Size = int64(len(data))
		}
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestALayerThatLeadsOutIsNotUnpacked(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "../out", Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(b.Bytes(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "../out") {
		t.Errorf("%v", err)
	}
}
