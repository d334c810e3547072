package faces

import (
	"context"
	"errors"

	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/files"
	"odarchive/ui"
)

// evidence returns what serves the transparency log.
func (a *Faces) evidence(pages *ui.UI) *files.EvidenceAPI {
	return &files.EvidenceAPI{
		Archive: a.store.Archive, Files: transparency.OfArchive(a.store.DB), Keys: a.store.LogKeys, Sign: a.store.SignLog, Cosign: a.cosign,
		Witnesses: a.witnesses, Page: pages.Proof,
	}
}

// proved reports whether the latest checkpoint has a version.
func (a *Faces) proved(v catalog.Version) (bool, error) {
	index, _, signed, err := a.store.Archive.LeafOf(v)
	if errors.Is(err, transparency.ErrNotLogged) {
		return false, nil
	}
	return err == nil && index < signed, err
}

// witnesses returns the keys of the witnesses that the settings name.
func (a *Faces) witnesses() (keys []transparency.Verifier, err error) {
	list, err := a.store.Config.LogWitnesses()
	for _, w := range list {
		keys = append(keys, w.Key)
	}
	return keys, err
}

// cosign adds the cosignatures in a note of witnesses that the settings name.
func (a *Faces) cosign(ctx context.Context, note []byte) (added int, err error) {
	keys, err := a.witnesses()
	if err != nil {
		return 0, err
	}
	return transparency.AddCosignatures(ctx, a.store.DB, note, keys)
}
