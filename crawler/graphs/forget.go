package graphs

import (
	"odarchive/triplestore"
)

// Forget removes the graph of the document to which a resource led, even if other resources lead to it, too: the
// document was withdrawn. The next version of any of them makes a new graph.
func (s *Store) Forget(txn *triplestore.Txn, resource string) error {
	t := tables{s, txn.KV()}
	id, known, err := t.leadsTo(resource)
	if err != nil || !known {
		return err
	}
	r, known, err := t.record(id)
	if err != nil || !known {
		return err
	}
	_, err = s.drop(txn, id, r)
	return err
}
