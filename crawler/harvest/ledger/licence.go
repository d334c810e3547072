package ledger

import (
	"context"
	"slices"
	"strings"

	"odarchive/crawler/archive/events"
	"odarchive/ns"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// maxLicensed bounds the files of a dataset whose events include a change of its licence.
const maxLicensed = 100

// tellLicence adds to the log of events that a dataset, or a file of it, is declared to have another licence than
// before. A commit that is repeated adds it once.
func tellLicence(ctx context.Context, txn *kv.Txn, record portal, e row, before, after []term.Quad) error {
	from, to := licences(before), licences(after)
	if from == to {
		return nil
	}
	log, dataset := events.Txn{Txn: txn}, events.OfDataset(e.dataset())
	told := false
	err := log.InScope(ctx, dataset, 1<<63, func(seq uint64, kinds events.Kind) (bool, error) {
		if kinds&events.Licence == 0 {
			return true, nil
		}
		last, ok, err := log.Event(seq)
		told = ok && last.Portal == record.IRI && last.From == from && last.To == to
		return false, err
	})
	if err != nil || told {
		return err
	}
	scopes := []events.Scope{dataset, events.OfPortal(record.IRI)}
	event := events.Event{Kinds: events.Licence, At: record.At, N: -1, Dataset: e.dataset(), Portal: record.IRI, From: from, To: to}
	for _, id := range e.Resources[:min(len(e.Resources), maxLicensed)] {
		if event.Resource == "" && ns.IsResourceID(id) {
			event.Resource = id
		}
		scopes = append(scopes, events.OfResource(id))
	}
	return log.Add(event, scopes...)
}

// licences returns the licences that statements declare, sorted and each once. Of a licence without an IRI it returns
// what is said of it.
func licences(quads []term.Quad) string {
	var list []string
	for _, q := range quads {
		switch {
		case q.P != term.IRI(vocab.DCTLicense):
		case q.O.Kind() != term.KindBlank:
			list = append(list, q.O.Value())
		default:
			for _, about := range quads {
				if about.S == q.O && about.O.Kind() == term.KindLiteral {
					list = append(list, about.O.Value())
				}
			}
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}
