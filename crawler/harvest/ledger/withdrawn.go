package ledger

import (
	"crypto/sha256"
	"encoding/hex"

	"odarchive/crawler/archive/describe"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// The default graph says the following of a withdrawn dataset. The first three statements are removed when it returns;
// each withdrawal and each return stays on record as prov:Invalidation and prov:Generation.
//
//	dataset prov:invalidatedAtTime T ; prov:wasInvalidatedBy harvest ; adms:status
//	    <http://purl.org/adms/status/Withdrawn> ;
//	        prov:qualifiedInvalidation [ prov:atTime T ; prov:activity harvest ] ;
//	        prov:qualifiedGeneration   [ prov:atTime T ; prov:activity harvest ] .

// updateMarks updates the marks of a dataset whose entry was current before the commit.
func (l *Ledger) updateMarks(txn *triplestore.Txn, record portal, dataset string, current row, goes bool) error {
	switch {
	case goes && !current.Gone:
		if err := l.insert(txn, l.marks(dataset, row{Since: record.At, By: record.Harvest})); err != nil {
			return err
		}
		return l.insert(txn, l.event(record, dataset, "withdrawn", vocab.PROVQualifiedInvalidation, vocab.PROVInvalidation))
	case !goes && current.Gone:
		for _, q := range l.marks(dataset, current) {
			if err := txn.Delete(q); err != nil {
				return err
			}
		}
		return l.insert(txn, l.event(record, dataset, "returned", vocab.PROVQualifiedGeneration, vocab.PROVGeneration))
	}
	return nil
}

func (l *Ledger) insert(txn *triplestore.Txn, quads []term.Quad) error {
	for _, q := range quads {
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}

// marks returns the statements that mark a withdrawn dataset.
func (l *Ledger) marks(dataset string, r row) []term.Quad {
	d := term.IRI(dataset)
	return []term.Quad{
		{S: d, P: term.IRI(vocab.PROVInvalidatedAtTime), O: describe.Time(r.Since)},
		{S: d, P: term.IRI(vocab.PROVWasInvalidatedBy), O: term.IRI(l.mint.Activity(r.By))},
		{S: d, P: term.IRI(vocab.ADMSStatus), O: term.IRI(vocab.ADMSStatusWithdrawn)},
	}
}

// event describes a withdrawal or return, whose IRI is below that of the harvest that found it.
func (l *Ledger) event(record portal, dataset, what, property, class string) []term.Quad {
	sum := sha256.Sum256([]byte(record.IRI + "\n" + dataset))
	activity := l.mint.Activity(record.Harvest)
	node := term.IRI(activity + "#" + what + "-" + hex.EncodeToString(sum[:8]))
	return []term.Quad{
		{S: term.IRI(dataset), P: term.IRI(property), O: node},
		{S: node, P: term.IRI(vocab.RDFType), O: term.IRI(class)},
		{S: node, P: term.IRI(vocab.PROVAtTime), O: describe.Time(record.At)},
		{S: node, P: term.IRI(vocab.PROVActivityProp), O: term.IRI(activity)},
	}
}
