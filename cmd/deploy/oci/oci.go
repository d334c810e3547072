// Package oci writes container images as the Open Containers Initiative lays them out in files: a tar archive that
// podman, skopeo, containerd and docker (25 and later) load, without a daemon and without a registry.
//
// Write takes the images of several platforms, each a list of layers, and writes them with one index. The same input
// gives the same bytes: files have one time and come in the order of their names. Read reads such an archive and
// verifies every digest and size in it.
//
// It writes what this project needs of the image specification 1.1: no annotations of layers, no attestations, no
// compression but gzip.
package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// The media types of OCI.
const (
	TypeIndex    = "application/vnd.oci.image.index.v1+json"
	TypeManifest = "application/vnd.oci.image.manifest.v1+json"
	TypeConfig   = "application/vnd.oci.image.config.v1+json"
	TypeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// File is a file or directory of a layer.
type File struct {
	Data     []byte
	Dir      bool
	Mode     int64 // permissions, with the sticky bit (01000)
	UID, GID int
}

// Layer is files by their slash-separated paths, without a slash in front. Directories that are not named are made,
// with mode 0755 of root.
type Layer map[string]File

// Platform is what an image runs on, in Go's words.
type Platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant,omitempty"`
}

// Settings are how a container of an image runs, in the words of the specification.
type Settings struct {
	User         string              `json:"User,omitempty"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
	Env          []string            `json:"Env,omitempty"`
	Entrypoint   []string            `json:"Entrypoint,omitempty"`
	Cmd          []string            `json:"Cmd,omitempty"`
	Volumes      map[string]struct{} `json:"Volumes,omitempty"`
	WorkingDir   string              `json:"WorkingDir,omitempty"`
	Labels       map[string]string   `json:"Labels,omitempty"`
	StopSignal   string              `json:"StopSignal,omitempty"`
}

// Image is an image for one platform.
type Image struct {
	Platform Platform
	Layers   []Layer
	Settings Settings
}

// Descriptor names a blob.
type Descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *Platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Index lists manifests.
type Index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []Descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// Manifest names what an image consists of.
type Manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        Descriptor   `json:"config"`
	Layers        []Descriptor `json:"layers"`
}

// Config says how an image runs.
type Config struct {
	Created time.Time `json:"created"`
	Platform
	Config  Settings `json:"config"`
	RootFS  RootFS   `json:"rootfs"`
	History []Step   `json:"history"`
}

// RootFS names the layers by the digests of their uncompressed archives.
type RootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// Step is how a layer came to be.
type Step struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// writer collects blobs, each once.
type writer struct{ blobs map[string][]byte }

// Write writes images to w as one archive, under a name such as odarchive:1.2.3. All files are of the time created.
func Write(w io.Writer, name string, created time.Time, images []Image) error {
	b := writer{map[string][]byte{}}
	index := Index{SchemaVersion: 2, MediaType: TypeIndex,
		Annotations: map[string]string{"org.opencontainers.image.created": created.UTC().Format(time.RFC3339)}}
	for _, image := range images {
		d, err := b.image(image, created)
		if err != nil {
			return fmt.Errorf("image for %s/%s: %w", image.Platform.OS, image.Platform.Architecture, err)
		}
		index.Manifests = append(index.Manifests, d)
	}
	d, err := b.json(TypeIndex, index)
	if err != nil {
		return err
	}
	_, tag, _ := strings.Cut(name, ":")
	d.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/" + name}
	top, err := json.Marshal(Index{SchemaVersion: 2, MediaType: TypeIndex, Manifests: []Descriptor{d}})
	if err != nil {
		return err
	}
	files := Layer{"oci-layout": {Data: []byte(`{"imageLayoutVersion":"1.0.0"}`), Mode: 0o644}, "index.json": {Data: top, Mode: 0o644}}
	for digest, data := range b.blobs {
		files["blobs/sha256/"+digest] = File{Data: data, Mode: 0o644}
	}
	return files.write(w, created)
}

// image adds an image and returns the descriptor of its manifest.
func (b writer) image(i Image, created time.Time) (Descriptor, error) {
	config := Config{Created: created.UTC(), Platform: i.Platform, Config: i.Settings, RootFS: RootFS{Type: "layers"}}
	m := Manifest{SchemaVersion: 2, MediaType: TypeManifest}
	for _, l := range i.Layers {
		var plain, compressed bytes.Buffer
		if err := l.write(&plain, created); err != nil {
			return Descriptor{}, err
		}
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, "sha256:"+digestOf(plain.Bytes()))
		config.History = append(config.History, Step{created.UTC(), "cmd/deploy/release"})
		z, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
		if err != nil {
			return Descriptor{}, err
		}
		if _, err := z.Write(plain.Bytes()); err != nil {
			return Descriptor{}, err
		}
		if err := z.Close(); err != nil {
			return Descriptor{}, err
		}
		m.Layers = append(m.Layers, b.blob(TypeLayer, compressed.Bytes()))
	}
	var err error
	if m.Config, err = b.json(TypeConfig, config); err != nil {
		return Descriptor{}, err
	}
	d, err := b.json(TypeManifest, m)
	d.Platform = &i.Platform
	return d, err
}

func (b writer) json(mediaType string, v any) (Descriptor, error) {
	data, err := json.Marshal(v)
	return b.blob(mediaType, data), err
}

func (b writer) blob(mediaType string, data []byte) Descriptor {
	digest := digestOf(data)
	b.blobs[digest] = data
	return Descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: int64(len(data))}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// write writes the files as a tar archive.
func (l Layer) write(w io.Writer, at time.Time) error {
	l = maps.Clone(l)
	for _, name := range slices.Collect(maps.Keys(l)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := l[dir]; !ok {
				l[dir] = File{Dir: true, Mode: 0o755}
			}
		}
	}
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(l)) {
		f := l[name]
		if !l[path.Dir(name)].Dir && path.Dir(name) != "." {
			return fmt.Errorf("%s: what is above it is a file", name)
		}
		h := &tar.Header{Name: name, Mode: f.Mode, Size: int64(len(f.Data)), Uid: f.UID, Gid: f.GID, ModTime: at, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR}
		if f.Dir {
			h.Name, h.Size, h.Typeflag = name+"/", 0, tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.Dir {
			continue
		}
		if _, err := out.Write(f.Data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return out.Close()
}
