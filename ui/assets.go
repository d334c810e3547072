package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"

	"github.com/klauspost/compress/gzip"
)

// Style sheets and images need no build.
//
//go:embed static
var staticFiles embed.FS

// Scripts come from `npm run build`. In a checkout that was not built, the folder has only .gitkeep.
//
//go:embed all:dist
var distFiles embed.FS

// assets are the files that pages link to. A served name contains a digest of the file's bytes, so it may be cached
// forever.
type assets struct {
	files   map[string]asset  // by served name
	address map[string]string // "style.css" -> "/assets/style.0a1b2c3d.css"
}

type asset struct {
	mime  string
	bytes []byte
	gzip  []byte // nil if it would not be smaller
}

func loadAssets() (*assets, error) {
	a := &assets{files: make(map[string]asset), address: make(map[string]string)}
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		base := path.Base(name)
		if path.Ext(base) == ".css" {
			data = squeeze(data)
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(base)
		served := strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:4]) + ext
		return a.add(base, served, data)
	})
	if err != nil {
		return nil, fmt.Errorf("ui: read assets: %w", err)
	}
	if err := a.addScripts(); err != nil {
		return nil, fmt.Errorf("ui: read scripts: %w", err)
	}
	return a, nil
}

// addScripts adds the files in the manifest of the build: {"console.js": "console-ABCD.js", ...}.
func (a *assets) addScripts() error {
	raw, err := distFiles.ReadFile("dist/manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not built: pages work as plain forms
	}
	if err != nil {
		return err
	}
	var manifest map[string]string
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return fmt.Errorf("dist/manifest.json: %w", err)
	}
	for name, served := range manifest {
		data, err := distFiles.ReadFile("dist/" + served)
		if err != nil {
			return err
		}
		if err := a.add(name, served, data); err != nil {
			return err
		}
	}
	return nil
}

func (a *assets) add(name, served string, data []byte) error {
	f := asset{mime: mimeOf(served), bytes: data}
	if strings.HasPrefix(f.mime, "text/") || strings.HasPrefix(f.mime, "image/svg") {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(data); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if packed.Len() < len(data) {
			f.gzip = packed.Bytes()
		}
	}
	a.files[served] = f
	a.address[name] = "/assets/" + served
	return nil
}

// mimeOf does not ask the machine's own tables first, because they differ between machines.
func mimeOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	a.send(w, r, path.Base(r.URL.Path), "public, max-age=31536000, immutable")
}

func (a *assets) serveIcon(w http.ResponseWriter, r *http.Request) {
	a.send(w, r, path.Base(a.address["icon.svg"]), "public, max-age=86400")
}

func (a *assets) send(w http.ResponseWriter, r *http.Request, name, cache string) {
	f, ok := a.files[name]
	if !ok {
		problem.Write(w, r, problem.Newf(http.StatusNotFound, "No such asset", "%s is not part of this build", name))
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Cache-Control", cache)
	body := f.bytes
	h.Add("Vary", "Accept-Encoding")
	if f.gzip != nil && conneg.AcceptsGzip(r, false) {
		h.Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
