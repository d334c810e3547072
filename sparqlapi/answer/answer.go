// Package answer sends JSON over HTTP.
package answer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// JSON sends v with an ETag of its bytes, or status 304 if the client has them. Unless the caller has set
// Cache-Control, clients must revalidate. An error means that nothing was sent.
func JSON(w http.ResponseWriter, r *http.Request, v any) error {
	return send(w, r, http.StatusOK, v)
}

// Bad is an entry of a posted list that was refused.
type Bad struct {
	Index int    `json:"index"` // in the list, from 0
	Error string `json:"error"`
}

// Partly sends v with status 207: parts of a posted list were refused, and v names them.
func Partly(w http.ResponseWriter, r *http.Request, v any) error {
	return send(w, r, http.StatusMultiStatus, v)
}

// Strict reports whether a request wants a list refused that has a bad entry: strict=1 or strict=true.
func Strict(r *http.Request) bool {
	strict, err := strconv.ParseBool(r.URL.Query().Get("strict"))
	return strict && err == nil
}

func send(w http.ResponseWriter, r *http.Request, status int, v any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("answer: encode %T: %w", v, err)
	}
	tag := Tag(body.Bytes())
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("ETag", tag)
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && Matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body.Bytes()) // an error means that the client has left
	}
	return nil
}

// Tag returns a strong ETag of an answer's bytes.
func Tag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// Matches reports whether the lines of an If-Match or If-None-Match header have the tag, or "*". The comparison is weak
// (RFC 9110 §8.8.3.2), since the compressed form of an answer has the same tag with W/.
func Matches(lines []string, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, line := range lines {
		for candidate := range strings.SplitSeq(line, ",") {
			if candidate = strings.TrimSpace(candidate); candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}
