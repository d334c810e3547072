package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Archive is an archive that was read, every blob verified.
type Archive struct {
	Index  Index // of the images
	blobs  map[string][]byte
	usedBy map[string]bool
}

// maxBlob bounds what is read of one file, in bytes.
const maxBlob = 1 << 30

// Read reads an archive that Write wrote. It returns an error if anything in it does not have the digest or size that
// it is named with, or if something is named that is not there, or the other way round.
func Read(r io.Reader) (*Archive, error) {
	a := &Archive{blobs: map[string][]byte{}, usedBy: map[string]bool{}}
	var top, layout []byte
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(in, maxBlob))
		if err != nil {
			return nil, err
		}
		switch digest, isBlob := strings.CutPrefix(h.Name, "blobs/sha256/"); {
		case h.Name == "index.json":
			top = data
		case h.Name == "oci-layout":
			layout = data
		case !isBlob:
			return nil, fmt.Errorf("%s: not a part of a layout", h.Name)
		case digest != digestOf(data):
			return nil, fmt.Errorf("%s: its digest is %s", h.Name, digestOf(data))
		default:
			a.blobs[digest] = data
		}
	}
	if string(layout) != `{"imageLayoutVersion":"1.0.0"}` {
		return nil, fmt.Errorf("oci-layout is %q", layout)
	}
	var outer Index
	if err := strictly(top, &outer); err != nil || len(outer.Manifests) != 1 {
		return nil, fmt.Errorf("index.json: %d images, %w", len(outer.Manifests), err)
	}
	if err := a.open(outer.Manifests[0], TypeIndex, &a.Index); err != nil {
		return nil, err
	}
	for _, d := range a.Index.Manifests {
		if _, _, err := a.Image(d); err != nil {
			return nil, err
		}
	}
	for digest := range a.blobs {
		if !a.usedBy[digest] {
			return nil, fmt.Errorf("blob %s belongs to nothing", digest)
		}
	}
	return a, nil
}

// Image returns the configuration of an image and its layers as tar archives, the lowest first.
func (a *Archive) Image(d Descriptor) (c Config, layers [][]byte, err error) {
	var m Manifest
	if err := a.open(d, TypeManifest, &m); err != nil {
		return c, nil, err
	}
	if err := a.open(m.Config, TypeConfig, &c); err != nil {
		return c, nil, err
	}
	if d.Platform == nil || *d.Platform != c.Platform || len(c.RootFS.DiffIDs) != len(m.Layers) {
		return c, nil, fmt.Errorf("the index says %v, the configuration %v with %d of %d layers", d.Platform, c.Platform,
			len(c.RootFS.DiffIDs), len(m.Layers))
	}
	for i, l := range m.Layers {
		data, err := a.blob(l, TypeLayer)
		if err != nil {
			return c, nil, err
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return c, nil, err
		}
		plain, err := io.ReadAll(io.LimitReader(z, maxBlob))
		if err != nil {
			return c, nil, err
		}
		if c.RootFS.DiffIDs[i] != "sha256:"+digestOf(plain) {
			return c, nil, fmt.Errorf("layer %d is not the one that the configuration names", i)
		}
		layers = append(layers, plain)
	}
	return c, layers, nil
}

func (a *Archive) blob(d Descriptor, mediaType string) ([]byte, error) {
	digest, _ := strings.CutPrefix(d.Digest, "sha256:")
	data, ok := a.blobs[digest]
	if !ok || int64(len(data)) != d.Size || d.MediaType != mediaType {
		return nil, fmt.Errorf("%s of %d bytes as %s: there are %d bytes, expected %s", d.Digest, d.Size, d.MediaType, len(data), mediaType)
	}
	a.usedBy[digest] = true
	return data, nil
}

func (a *Archive) open(d Descriptor, mediaType string, into any) error {
	data, err := a.blob(d, mediaType)
	if err != nil {
		return err
	}
	return strictly(data, into)
}

func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Unpack writes the files of a layer below a directory of this machine, with their owners if chown is not nil. Paths
// that lead out of the directory are errors.
func Unpack(layer []byte, dir string, chown func(name string, uid, gid int) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for in := tar.NewReader(bytes.NewReader(layer)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		if h.Typeflag == tar.TypeDir {
			err = root.MkdirAll(name, 0o755)
		} else {
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = root.WriteFile(name, data, 0o644)
			}
		}
		mode := os.FileMode(h.Mode & 0o777)
		if h.Mode&0o1000 != 0 {
			mode |= os.ModeSticky
		}
		if err == nil {
			err = root.Chmod(name, mode)
		}
		if err == nil && chown != nil {
			err = chown(filepath.Join(dir, name), h.Uid, h.Gid)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}
