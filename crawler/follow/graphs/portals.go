package graphs

import (
	"odarchive/triplestore/kv"
)

// The files of some portals have content graphs: that is a setting of the portal, which a harvest makes. Whether a
// visit of a file has to do with it follows from the portals that list the file, so the setting holds for files that
// the portal lists later, and those that it has listed before.

func portalKey(iri string) []byte {
	id := idOf(iri)
	return key(tablePortal, id[:])
}

// Want records that the files of a portal shall have graphs.
func (s *Store) Want(txn *kv.Txn, portal string) error {
	_, known, err := txn.Get(kv.SpaceGraphs, portalKey(portal))
	if err != nil || known {
		return err
	}
	return txn.Set(kv.SpaceGraphs, portalKey(portal), []byte(portal))
}

// AnyWanted reports whether Want was called for any portal.
func (s *Store) AnyWanted(txn *kv.Txn) (some bool, err error) {
	err = txn.Scan(kv.SpaceGraphs, []byte{tablePortal}, nil, func(_, _ []byte) (bool, error) {
		some = true
		return false, nil
	})
	return some, err
}

// Wanted reports whether Want was called for one of these portals.
func (s *Store) Wanted(txn *kv.Txn, portals []string) (bool, error) {
	for _, iri := range portals {
		if _, known, err := txn.Get(kv.SpaceGraphs, portalKey(iri)); err != nil || known {
			return known, err
		}
	}
	return false, nil
}

// HasRead reports whether Put or Skip was called for a resource.
func (s *Store) HasRead(txn *kv.Txn, resource string) (bool, error) {
	_, known, err := txn.Get(kv.SpaceGraphs, leadsKey(resource))
	return known, err
}

// Skip records that the statements of a resource's document could not be read, unless the resource has a graph. The
// document is read again when it has changed.
func (s *Store) Skip(txn *kv.Txn, resource string) error {
	known, err := s.HasRead(txn, resource)
	if err != nil || known {
		return err
	}
	var none graphID
	return txn.Set(kv.SpaceGraphs, leadsKey(resource), none[:])
}

func leadsKey(resource string) []byte { return key(tableLeads, []byte(resource)) }
