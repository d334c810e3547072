// Serves the bytes of one version: GET and HEAD, ranges, conditions, and gzip directly from the
// store's segments. Members serves the bytes of a file inside a version that is an archive.
//
// The bytes come from strangers: answers have a policy under which nothing in them runs (sandbox), must not be sniffed,
// and have the media type that the archive detected, not the one the server sent. The ETag of a version is its SHA-256.
// A version never changes, so it may be cached forever. FileHandler.Links adds Memento headers.
//
// Packages linkeddata and ui serve descriptions and pages of versions.

package files

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/bucket"
)

// FileArchive finds versions. An unknown one is an error that wraps archive.ErrNotFound.
type FileArchive interface {
	// Version returns the version with an id, "{ID}_{N}".
	Version(ctx context.Context, id string) (catalog.Version, error)
	// Latest returns the latest version of a resource URL that is not an error page.
	Latest(ctx context.Context, url string) (catalog.Version, error)
}

var _ FileArchive = (*archive.Archive)(nil)

// FileContents is the content store.
type FileContents interface {
	Open(sha [32]byte) (*content.Reader, error)
	Deflated(sha [32]byte, layout uint64) (*content.Deflated, error)
}

var _ FileContents = (*content.Store)(nil)

// FileHandler serves the bytes of versions.
type FileHandler struct {
	Archive  FileArchive
	Contents FileContents
	// Links adds the Memento headers of a version (package memento); nil adds none.
	Links func(ctx context.Context, h http.Header, v catalog.Version) error
	// IRI returns a version's IRI, for the Content-Location of the latest version.
	IRI func(versionID string) string
	Log *slog.Logger
}

// Version answers GET /get/file/id/{id} with the bytes of the version that has the id.
func (h *FileHandler) Version(w http.ResponseWriter, r *http.Request, id string) error {
	v, err := h.Archive.Version(r.Context(), id)
	if err != nil {
		return err
	}
	return h.send(w, r, v, true)
}

// Latest answers GET /get/file/{URL} with the bytes of the URL's latest version.
func (h *FileHandler) Latest(w http.ResponseWriter, r *http.Request) error {
	address, _, err := target.URL(r)
	if err != nil {
		return err
	}
	v, err := h.Archive.Latest(r.Context(), address)
	if err != nil {
		return err
	}
	if h.IRI != nil {
		w.Header().Set("Content-Location", h.IRI(v.ID))
	}
	return h.send(w, r, v, false)
}

// send answers with a version's bytes. fixed reports whether the address always names this version.
func (h *FileHandler) send(w http.ResponseWriter, r *http.Request, v catalog.Version, fixed bool) error {
	if err := v.Available(); err != nil {
		return err
	}
	if err := h.headers(w, r, v, fixed); err != nil {
		return err
	}
	several := strings.Contains(r.Header.Get("Range"), ",") // clients would decode the parts as one stream
	if conneg.AcceptsGzip(r, false) && compressible(v) && !several {
		return h.sendGzip(w, r, v)
	}
	f, err := h.Contents.Open(v.Digests.SHA256)
	if err != nil {
		return h.lost(w, v, err)
	}
	defer f.Close()
	if err := f.Ready(); errors.Is(err, bucket.ErrUnavailable) {
		return h.lost(w, v, err)
	}
	w.Header().Set("ETag", tag(v, ""))
	body := &watched{ReadSeeker: f}
	answer.ServeRanges(w, r, v.At, body)
	return h.cutOff(r, v, body.err)
}

func (h *FileHandler) headers(w http.ResponseWriter, r *http.Request, v catalog.Version, fixed bool) error {
	d := w.Header()
	safeName(d, v)
	d.Add("Vary", "Accept-Encoding")
	if fixed {
		d.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		d.Set("Cache-Control", "no-cache")
	}
	if h.Links == nil {
		return nil
	}
	return h.Links(r.Context(), d, v)
}

// safeName sets the headers that state the type of a stranger's bytes and keep them from running.
func safeName(d http.Header, v catalog.Version) {
	d.Set("Content-Type", mediaType(v))
	d.Set("Content-Disposition", disposition(v))
	d.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
	d.Set("X-Content-Type-Options", "nosniff")
	d.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// lost returns the answer for a version whose bytes cannot be read, and removes the headers that describe them.
func (h *FileHandler) lost(w http.ResponseWriter, v catalog.Version, err error) error {
	for _, name := range []string{"Content-Disposition", "Cache-Control", "Memento-Datetime", "Link", "Content-Location",
		"Content-Encoding"} {
		w.Header().Del(name)
	}
	switch {
	case errors.Is(err, content.ErrNotFound):
		return &problem.Error{Status: http.StatusGone, Title: "The bytes are lost", Cause: err,
			Detail: "version " + v.ID + " is known, but its bytes are no longer stored"}
	case errors.Is(err, content.ErrDamaged):
		return &problem.Error{Status: http.StatusInternalServerError, Title: "The bytes are damaged", Cause: err,
			Detail: "the stored bytes of version " + v.ID + " differ from their checksum"}
	}
	return err
}

// cutOff cuts the connection after a failed read, so that the client does not take the answer for complete.
func (h *FileHandler) cutOff(r *http.Request, v catalog.Version, err error) error {
	if err == nil {
		return nil
	}
	if h.Log != nil {
		h.Log.ErrorContext(r.Context(), "version cut off", "version", v.ID, "err", err)
	}
	panic(http.ErrAbortHandler)
}

// watched records a failed read, which http.ServeContent does not report.
type watched struct {
	io.ReadSeeker
	err error
}

func (f *watched) Read(p []byte) (int, error) {
	n, err := f.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// tag returns a strong ETag. Each coding of a version has its own (RFC 9110 §8.8.3.3).
func tag(v catalog.Version, coding string) string {
	return `"` + hex.EncodeToString(v.Digests.SHA256[:]) + coding + `"`
}

// mediaType returns the detected type, with the charset of text, or application/octet-stream if the type is malformed.
func mediaType(v catalog.Version) string {
	t, params, err := mime.ParseMediaType(v.Type)
	if err != nil {
		return "application/octet-stream"
	}
	if v.Charset != "" && params["charset"] == "" && strings.HasPrefix(t, "text/") {
		params["charset"] = v.Charset
	}
	if full := mime.FormatMediaType(t, params); full != "" {
		return full
	}
	return t
}

// disposition returns a Content-Disposition with the file's name. Types that a browser would render or run are
// attachments.
func disposition(v catalog.Version) string {
	kind := "attachment"
	t, _, _ := strings.Cut(v.Type, ";")
	switch t {
	case "text/plain", "text/csv", "text/tab-separated-values", "application/json", "application/pdf", "image/png", "image/jpeg",
		"image/gif", "image/webp":
		kind = "inline"
	}
	name := v.FileName[strings.LastIndexAny(v.FileName, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if strings.Trim(name, ". ") == "" {
		name = v.ID
	}
	if d := mime.FormatMediaType(kind, map[string]string{"filename": name}); d != "" {
		return d
	}
	return kind
}

// compressible reports whether sending a version as gzip is worth it: not for types that are compressed already.
func compressible(v catalog.Version) bool {
	t, _, _ := strings.Cut(v.Type, ";")
	for _, prefix := range []string{"image/", "audio/", "video/"} {
		if strings.HasPrefix(t, prefix) {
			return t == "image/svg+xml" || t == "image/bmp" || t == "image/tiff"
		}
	}
	switch t {
	case "application/zip", "application/gzip", "application/x-7z-compressed", "application/x-xz", "application/x-bzip2",
		"application/zstd", "application/vnd.rar":
		return false
	}
	return !strings.HasPrefix(t, "application/vnd.openxmlformats") && !strings.HasPrefix(t, "application/vnd.oasis")
}
