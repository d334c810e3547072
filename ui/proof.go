package ui

import (
	"net/http"
	"path"
	"strings"

	"odarchive/crawler/archive/transparency"
)

// proofPage is what the page about a proof shows.
type proofPage struct {
	transparency.Verified
	ID     string // of the version
	Keys   []string
	Count  int // leaves of the tree
	Steps  int // hashes between the leaf and the root
	Text   string
	IRI    string // of the proof
	Crumbs []crumb
}

// Proof answers with the page that explains a proof.
func (u *UI) Proof(w http.ResponseWriter, r *http.Request, p transparency.Proof, v transparency.Verified) error {
	text, err := p.Format()
	if err != nil {
		return err
	}
	id := path.Base(v.Version)
	res, err := u.archive.Resource(r.Context(), strings.SplitN(id, "_", 2)[0])
	if err != nil {
		return err
	}
	page := proofPage{Verified: v, ID: id, Keys: p.Subject.Keys, Count: int(v.Size), Steps: len(p.Hashes), Text: string(text),
		IRI: u.mint.Proof(id), Crumbs: append(crumbs(res), crumb{titleOf(res), pagePath(res.URL)})}
	return u.render(w, r, http.StatusOK, "proof", view{Title: "Proof of version " + humanCount(v.N), Page: page})
}
