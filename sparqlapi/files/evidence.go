// Serves the transparency log as C2SP tlog-tiles has it, and proofs that a version is in it.
//
// A tile never changes, and may be cached for ever; the checkpoint may be for some seconds. A proof comes as text
// (tlog-proof), as JSON and as a page that explains it. Package transparency makes and checks all of it.

package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/transparency"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// EvidenceArchive proves versions. The error is transparency.ErrNotLogged if no checkpoint has the version yet.
type EvidenceArchive interface {
	Prove(versionID string, checkpoint []byte, keys []string) (transparency.Proof, error)
}

var _ EvidenceArchive = (*archive.Archive)(nil)

// EvidenceAPI serves the log.
type EvidenceAPI struct {
	Archive EvidenceArchive
	Files   transparency.Files
	Keys    func() ([]string, error) // public keys of the log, the present one first
	// Sign signs the present tree.
	Sign func(context.Context) (transparency.Checkpoint, error)
	// Cosign adds the cosignatures in a note of witnesses that the archive knows, and returns how many were new.
	Cosign func(ctx context.Context, note []byte) (added int, err error)
	// Witnesses returns the witnesses that the archive knows; nil for none.
	Witnesses func() ([]transparency.Verifier, error)
	// Page answers with a page about a proof; nil for none.
	Page func(w http.ResponseWriter, r *http.Request, p transparency.Proof, v transparency.Verified) error
}

// maxPosted bounds the body of a request, in bytes.
const maxPosted = 64 << 10

const plainText = "text/plain; charset=utf-8"

// Checkpoint answers GET /log/checkpoint.
func (a *EvidenceAPI) Checkpoint(w http.ResponseWriter, r *http.Request) error {
	return a.file(w, r, transparency.CheckpointFile, plainText, "public, max-age=5")
}

// TimeStamp answers GET /log/checkpoint.tsr with the time stamp of the latest checkpoint.
func (a *EvidenceAPI) TimeStamp(w http.ResponseWriter, r *http.Request) error {
	return a.file(w, r, transparency.TimeStampFile, "application/timestamp-reply", "public, max-age=5")
}

// Tile answers GET /log/tile/….
func (a *EvidenceAPI) Tile(w http.ResponseWriter, r *http.Request) error {
	return a.file(w, r, "tile/"+target.Value(r, "*"), "application/octet-stream", "public, max-age=31536000, immutable")
}

func (a *EvidenceAPI) file(w http.ResponseWriter, r *http.Request, name, mediaType, cache string) error {
	b, err := a.Files(r.Context(), name)
	if errors.Is(err, fs.ErrNotExist) {
		switch name {
		case transparency.CheckpointFile:
			return problem.Newf(http.StatusNotFound, "Nothing is signed yet",
				"the operator of this archive has signed no checkpoint of its transparency log")
		case transparency.TimeStampFile:
			return problem.Newf(http.StatusNotFound, "Not stamped", "no time-stamping authority has stamped the latest checkpoint")
		}
		return problem.Newf(http.StatusNotFound, "No such tile", "the log has no %s; /log/checkpoint says how large it is", name)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", cache)
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(b) // an error means that the client has left
	return nil
}

// Key answers GET /log/key with the keys that check the log's signatures, a line each.
func (a *EvidenceAPI) Key(w http.ResponseWriter, _ *http.Request) error {
	keys, err := a.Keys()
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return problem.Newf(http.StatusNotFound, "There is no key", "this server has no key of the transparency log")
	}
	w.Header().Set("Content-Type", plainText)
	w.Header().Set("Cache-Control", "public, max-age=60")
	_, _ = io.WriteString(w, strings.Join(keys, "\n")+"\n")
	return nil
}

// SignNow answers POST /log/sign with the checkpoint of the present tree.
func (a *EvidenceAPI) SignNow(w http.ResponseWriter, r *http.Request) error {
	c, err := a.Sign(r.Context())
	switch {
	case errors.Is(err, transparency.ErrNoKey), errors.Is(err, transparency.ErrEmpty), errors.Is(err, transparency.ErrForked):
		return problem.With(http.StatusConflict, "Not signed", err)
	case err != nil:
		return err
	}
	w.Header().Set("Content-Type", plainText)
	_, _ = w.Write(c.Note)
	return nil
}

// Cosignatures answers POST /log/cosignatures, whose body is a checkpoint with the signature of a witness. Anybody may
// send it: only signatures of witnesses that the settings name are taken.
func (a *EvidenceAPI) Cosignatures(w http.ResponseWriter, r *http.Request) error {
	note, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPosted))
	if err != nil {
		return problem.Newf(http.StatusRequestEntityTooLarge, "Too long", "a checkpoint has at most %d bytes: %v", maxPosted, err)
	}
	added, err := a.Cosign(r.Context(), note)
	switch {
	case errors.Is(err, transparency.ErrNote):
		return problem.With(http.StatusBadRequest, "Not a cosigned checkpoint", err)
	case errors.Is(err, transparency.ErrNotLogged):
		return problem.With(http.StatusNotFound, "Not a checkpoint of this archive", err)
	case errors.Is(err, transparency.ErrForked):
		return problem.With(http.StatusConflict, "Another checkpoint", err)
	case err != nil:
		return err
	}
	return answer.JSON(w, r, map[string]int{"added": added})
}

// The forms of a proof, by name in ?format=.
var offers = []conneg.Offer{
	{MediaType: "application/json", Name: "json"},
	{MediaType: "text/plain", Name: "txt"},
	{MediaType: "text/html", Name: "html"},
}

// proofJSON is a proof for programs. Text is the whole proof as `odarchive verify` reads it.
type proofJSON struct {
	transparency.Verified
	Leaf       string   `json:"leaf"` // base64
	Hashes     []string `json:"hashes"`
	Checkpoint string   `json:"checkpoint"`
	Keys       []string `json:"keys"`
	Text       string   `json:"text"`
}

// Proof answers GET /proof/{ID}_{N} with the proof that a version is in the tree of the latest checkpoint.
func (a *EvidenceAPI) Proof(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Cache-Control", "public, max-age=60")
	id, suffixed := strings.CutSuffix(target.Value(r, "id"), transparency.ProofSuffix)
	format := r.URL.Query().Get("format")
	if format == "" && suffixed {
		format = "txt"
	}
	if format == "" {
		best, ok := conneg.Negotiate(r, offers)
		if !ok {
			best = offers[0]
		}
		format = best.Name
	}
	keys, err := a.Keys()
	if err != nil {
		return err
	}
	p, err := a.Archive.Prove(id, nil, keys)
	if errors.Is(err, transparency.ErrNotLogged) {
		return problem.Newf(http.StatusNotFound, "Not proved yet", "no signed checkpoint of the transparency log has this version yet")
	}
	if err != nil {
		return err
	}
	text, err := p.Format()
	if err != nil {
		return err
	}
	var witnesses []transparency.Verifier
	if a.Witnesses != nil {
		if witnesses, err = a.Witnesses(); err != nil {
			return err
		}
	}
	v, err := p.Describe(witnesses)
	if err != nil {
		return err
	}
	switch {
	case format == "html" && a.Page != nil:
		return a.Page(w, r, p, v)
	case format == "txt":
		w.Header().Set("Content-Type", plainText)
		w.Header().Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s%s"`, id, transparency.ProofSuffix))
		_, _ = w.Write(text)
		return nil
	case format != "json" && format != "html":
		return problem.Newf(http.StatusBadRequest, "Unknown format", "%q is not a form of a proof: expected json, txt or html", format)
	}
	out := proofJSON{Verified: v, Leaf: base64.StdEncoding.EncodeToString(p.Subject.Leaf), Hashes: []string{},
		Checkpoint: string(p.Checkpoint), Keys: keys, Text: string(text)}
	for _, h := range p.Hashes {
		out.Hashes = append(out.Hashes, h.String())
	}
	return answer.JSON(w, r, out)
}
