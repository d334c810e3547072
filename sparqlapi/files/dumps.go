// Serves dumps of the triples: files that the archive makes at the times of its settings.
//
// A dump never changes under its name. It disappears when a newer one replaces it, and when something was withdrawn, so
// answers may be stored, but must be validated before they are used again. Package linkeddata lists the dumps.

package files

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/disk"
)

// DumpsAPI serves dumps.
type DumpsAPI struct {
	// Open opens a dump by its name; the caller closes the file. The error wraps catalog.ErrNoDump for an unknown name.
	Open func(name string) (disk.File, catalog.Dump, error)
}

// File answers GET /dumps/{name} with a dump, whole or in ranges.
func (a *DumpsAPI) File(w http.ResponseWriter, r *http.Request) error {
	f, dump, err := a.Open(target.Value(r, "name"))
	if errors.Is(err, catalog.ErrNoDump) {
		return problem.Newf(http.StatusNotFound, "No such dump",
			"it was replaced by a newer one, or removed because of a withdrawal; /dumps lists those there are")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", dump.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+dump.Name+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", `"`+dump.SHA256+`"`)
	if digest, err := hex.DecodeString(dump.SHA256); err == nil {
		h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(digest)+":") // RFC 9530
	}
	answer.ServeRanges(w, r, dump.Made, f)
	return nil
}
