package rest

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

// writeJSON sends v with an ETag of its bytes, or 304 where the client has them.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("rest: encode %T: %w", v, err)
	}
	sum := sha256.Sum256(body.Bytes())
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method != http.MethodHead {
		w.Write(body.Bytes()) // the client may have gone; there is nobody left to tell
	}
	return nil
}

// matches compares weakly (RFC 9110 §13.1.2): the compressed form carries the same tag with W/.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}
