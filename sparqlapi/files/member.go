package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/unpack"
	"odarchive/crawler/web/spool"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// MemberArchive finds the files inside versions that are archives.
type MemberArchive interface {
	// Member returns the file at a path inside a version. An unknown one is an error that wraps archive.ErrNotFound.
	Member(ctx context.Context, versionID, path string) (archive.Member, error)
	// Extract writes a member's bytes, within limits of size, ratio and time.
	Extract(ctx context.Context, m archive.Member, dst io.Writer) error
}

var _ MemberArchive = (*archive.Archive)(nil)

// Members serves files inside versions. It unpacks a member into the spool for each request, because a member is known
// to be intact only afterwards. HEAD and conditional requests avoid that if they can.
type Members struct {
	Archive MemberArchive
	Examine *examine.Pool // detects what kind of files they are; nil does so in this process
	Spool   *spool.Spool
	Gate    *access.Gate // bounds how many members are unpacked at the same time, in all and for one client
	IRI     func(versionID string) string

	mu    sync.Mutex        // guards bombs
	bombs map[string]string // why members, by their ETags, cannot be unpacked; at most maxBombs
}

// maxBombs bounds the members that are remembered because unpacking them would exceed the limits. When there are more,
// all are forgotten.
const maxBombs = 10_000

// bomb returns why a member is known to exceed the limits, or "".
func (h *Members) bomb(etag string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bombs[etag]
}

// remember notes that unpacking a member exceeds the limits: it took long to find out.
func (h *Members) remember(etag, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bombs == nil || len(h.bombs) >= maxBombs {
		h.bombs = map[string]string{}
	}
	h.bombs[etag] = why
}

// Member answers GET /get/file/id/{id}/member/{path} with the bytes of the file at a path inside a version.
func (h *Members) Member(w http.ResponseWriter, r *http.Request, id, path string) error {
	m, err := h.Archive.Member(r.Context(), id, path)
	if err != nil {
		return err
	}
	part := catalog.Version{ID: m.Version.ID, FileName: m.Path, Type: m.Type, Charset: m.Charset, At: m.Version.At}
	etag := memberTag(m)
	if m.Listed && m.Type != "" && (r.Method == http.MethodHead || r.Header.Get("If-None-Match") == etag) && r.Header.Get("Range") == "" {
		h.headers(w, part, etag)
		if r.Header.Get("If-None-Match") == etag {
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		w.Header().Set("Content-Length", strconv.FormatInt(m.Size, 10))
		return nil
	}
	if why := h.bomb(etag); why != "" {
		return &problem.Error{Status: http.StatusUnprocessableEntity, Title: notUnpacked, Detail: why}
	}
	leave, err := h.Gate.Enter(r.Context(), access.ClientOf(r.Context()))
	if err != nil {
		return refused(err)
	}
	defer leave()
	file := h.Spool.Create()
	defer file.Remove() // what cannot be removed now is removed at the next start
	if err := errors.Join(h.Archive.Extract(r.Context(), m, file), file.Finish()); err != nil {
		if errors.Is(err, unpack.ErrBomb) || errors.Is(err, unpack.ErrTooMany) || errors.Is(err, apart.ErrCost) ||
			errors.Is(err, context.DeadlineExceeded) &&
				r.Context().Err() == nil {
			h.remember(etag, WhyLost(m, err))
		}
		return notExtracted(m, err)
	}
	if part.Type == "" {
		if part.Type, part.Charset, err = h.detect(r.Context(), m.Path, file); err != nil {
			return err
		}
	}
	leave() // a slow reader takes nobody's place
	h.headers(w, part, etag)
	body := file.Open()
	defer body.Close()
	answer.ServeRanges(w, r, time.Time{}, io.NewSectionReader(file, 0, file.Size()))
	return nil
}

// detect detects what kind of file a member is.
func (h *Members) detect(ctx context.Context, path string, file *spool.File) (mediaType, charset string, err error) {
	doc, err := h.Examine.Open(ctx, examine.Visitors, examine.About{}, examine.Body{Size: file.Size(), R: file})
	if err != nil {
		return "", "", err
	}
	defer doc.Close()
	found, err := doc.Detect(ctx, examine.File{Name: path, Alone: true})
	return found.Type, found.Charset, err
}

// Listed reports whether a version is known to contain a member.
func (h *Members) Listed(ctx context.Context, versionID, path string) (bool, error) {
	m, err := h.Archive.Member(ctx, versionID, path)
	if errors.Is(err, archive.ErrNotFound) {
		return false, nil
	}
	return err == nil && m.Listed, err
}

func (h *Members) headers(w http.ResponseWriter, part catalog.Version, etag string) {
	safeName(w.Header(), part)
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if h.IRI != nil {
		w.Header().Add("Link", "<"+h.IRI(part.ID)+`>; rel="collection"`)
	}
}

// memberTag returns the ETag of a member, made of the version's digest and the path. Neither ever changes.
func memberTag(m archive.Member) string {
	sum := sha256.Sum256(append(m.Version.Digests.SHA256[:], m.Path...))
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// notExtracted returns the answer for a member whose bytes Extract could not write.
func notExtracted(m archive.Member, err error) error {
	switch {
	case gone(err) && !m.Listed:
		return problem.Newf(http.StatusNotFound, "Unknown member", "version %q has no member %q", m.Version.ID, m.Path)
	case errors.Is(err, content.ErrNotFound), errors.Is(err, content.ErrDamaged),
		errors.Is(err, apart.ErrBusy), errors.Is(err, apart.ErrOurs):
		return err
	}
	why := WhyLost(m, err)
	if why == "" {
		return err
	}
	return &problem.Error{Status: http.StatusUnprocessableEntity, Title: notUnpacked, Detail: why, Cause: err}
}

const notUnpacked = "The member cannot be unpacked"

// refused returns the answer to a client for which there is no place.
func refused(err error) error {
	full, ok := errors.AsType[*access.Full](err)
	if !ok {
		return err
	}
	e := &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many members at a time",
		Detail:     "other clients have as many members unpacked as the server does at a time; try again soon",
		RetryAfter: max(full.After, time.Second), Cause: err}
	if full.Own {
		e.Status, e.Detail = http.StatusTooManyRequests,
			"you have as many members unpacked, and waiting, as one client may have; try again when one has arrived"
	}
	return e
}

// WhyLost describes in one sentence why Extract failed. It returns "" if neither the archived file nor its stored bytes
// are the cause, or if the archive does not list the member.
func WhyLost(m archive.Member, err error) string {
	switch {
	case errors.Is(err, spool.ErrFull), errors.Is(err, context.Canceled), errors.Is(err, content.ErrClosed),
		errors.Is(err, apart.ErrBusy), errors.Is(err, apart.ErrOurs):
		return ""
	case errors.Is(err, apart.ErrCost):
		return fmt.Sprintf("%q cannot be unpacked: %v; the version itself can be downloaded", m.Path, err)
	case gone(err):
		if !m.Listed {
			return ""
		}
		return fmt.Sprintf("%q is listed in the archive, but can no longer be found in it", m.Path)
	case errors.Is(err, content.ErrNotFound):
		return "the bytes of the archive that contains it are no longer stored"
	case errors.Is(err, content.ErrDamaged):
		return "the stored bytes of the archive that contains it differ from their checksum"
	case errors.Is(err, unpack.ErrEncrypted):
		return fmt.Sprintf("%q is encrypted", m.Path)
	case errors.Is(err, unpack.ErrBomb), errors.Is(err, unpack.ErrTooMany):
		return fmt.Sprintf("%q unpacks to more than the limits allow; the version itself can be downloaded", m.Path)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("unpacking %q takes too long; the version itself can be downloaded", m.Path)
	}
	return fmt.Sprintf("the archive is damaged before or at %q", m.Path)
}

func gone(err error) bool {
	return errors.Is(err, archive.ErrNotFound) || errors.Is(err, unpack.ErrNotFound)
}
