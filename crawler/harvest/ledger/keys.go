package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Tables of the ledger in kv.SpaceHarvest, by first byte of the key. The rest of a key has a fixed width, except for a
// source's name and a report's ID. See FORMAT.md.
const (
	tableSource   = 'm' // source                             -> source
	tablePortal   = 'p' // portal                             -> portal
	tableCurrent  = 'c' // portal, entry                      -> row
	tableStaged   = 's' // portal, entry                      -> row
	tableContent  = 'b' // portal, entry, digest, part (1 byte) -> a part of the statements
	tableForeign  = 'r' // portal, subject, entry             -> nothing: the entry has statements about a subject other than its own
	tableActivity = 'a' // start (newest first), id           -> Report
)

type (
	portalID [8]byte
	entryID  [16]byte
	digest   string // of an entry's statements, in hexadecimal; "" if it has none
)

func idOf(portal string) portalID {
	sum := hash16(portal)
	return portalID(sum[:8])
}

func hash16(s string) [16]byte {
	sum := sha256.Sum256([]byte(s))
	return [16]byte(sum[:16])
}

// nameOf returns the name of an entry. Datasets and other subjects have separate namespaces.
func nameOf(e harvest.Entry) string {
	if e.Dataset != "" {
		return "d" + e.Dataset
	}
	return "s" + string(e.Subject)
}

func key(table byte, p portalID, parts ...[]byte) []byte {
	k := append([]byte{table}, p[:]...)
	for _, part := range parts {
		k = append(k, part...)
	}
	return k
}

func rowKey(table byte, p portalID, id entryID) []byte { return key(table, p, id[:]) }

// row is the record of an entry.
type row struct {
	Name      string    `json:"n"`
	Digest    digest    `json:"d,omitempty"`
	Quads     int       `json:"q,omitempty"`
	Campaign  int64     `json:"c"`
	Resources []string  `json:"u,omitempty"`
	Gone      bool      `json:"g,omitempty"` // staged: to be withdrawn; current: withdrawn
	Since     time.Time `json:"t,omitzero"`  // withdrawn at
	By        string    `json:"b,omitempty"` // ID of the harvest that withdrew it
	Times     int       `json:"w,omitempty"` // number of withdrawals
	Asked     asked     `json:"k,omitempty"` // current: the entry was not found and is still listed
}

func (r row) dataset() string {
	if r.Name == "" || r.Name[0] != 'd' {
		return ""
	}
	return r.Name[1:]
}

// subject returns the subject of the entry.
func (r row) subject() term.Key {
	if dataset := r.dataset(); dataset != "" {
		return term.IRI(dataset)
	}
	return term.Key(r.Name[1:])
}

// private reports whether no other entry can make the statement, because it is about a blank node of the dataset.
func private(q term.Quad, nodes string) bool {
	return q.S.Kind() == term.KindBlank && strings.HasPrefix(q.S.Value(), nodes)
}

// foreign returns the distinct subjects, other than its own, that an entry has statements about. It omits the portal's
// link to the dataset, which is found by the dataset.
func (r row) foreign(portal string, quads []term.Quad) []term.Key {
	var all []term.Key
	subject, nodes := r.subject(), ""
	if dataset := r.dataset(); dataset != "" {
		nodes = harvest.NodePrefix(portal, dataset)
	}
	seen := map[term.Key]bool{}
	for _, q := range quads {
		link := q.P == term.IRI(vocab.DCATDatasetProp) && q.O == subject
		if q.S == subject || link || nodes != "" && private(q, nodes) || seen[q.S] {
			continue
		}
		seen[q.S] = true
		all = append(all, q.S)
	}
	return all
}

const partSize = 512 << 10 // bytes of a content value

var errBadContent = errors.New("ledger: the statements of an entry cannot be read")

// encode returns statements, sorted and without duplicates, as lengths and keys.
func encode(quads []term.Quad) ([]byte, digest) {
	sorted := slices.Clone(quads)
	slices.SortFunc(sorted, compare)
	sorted = slices.Compact(sorted)
	var b []byte
	for _, q := range sorted {
		for _, k := range [3]term.Key{q.S, q.P, q.O} {
			b = binary.AppendUvarint(b, uint64(len(k)))
			b = append(b, k...)
		}
	}
	sum := sha256.Sum256(b)
	return b, digest(hex.EncodeToString(sum[:16]))
}

func compare(a, b term.Quad) int {
	if c := strings.Compare(string(a.S), string(b.S)); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.P), string(b.P)); c != 0 {
		return c
	}
	return strings.Compare(string(a.O), string(b.O))
}

func decode(b []byte) ([]term.Quad, error) {
	var quads []term.Quad
	for len(b) > 0 {
		var k [3]term.Key
		for i := range k {
			n, w := binary.Uvarint(b)
			if w <= 0 || n > uint64(len(b)-w) {
				return nil, errBadContent
			}
			k[i], b = term.Key(b[w:w+int(n)]), b[w+int(n):]
		}
		quads = append(quads, term.Quad{S: k[0], P: k[1], O: k[2]})
	}
	return quads, nil
}

// content returns the statements of a row.
func (l *Ledger) content(txn *kv.Txn, p portalID, r row) ([]term.Quad, error) {
	if r.Digest == "" {
		return nil, nil
	}
	id := entryID(hash16(r.Name))
	var packed []byte
	err := txn.Scan(kv.SpaceHarvest, key(tableContent, p, id[:], []byte(r.Digest)), nil, func(_, part []byte) (bool, error) {
		packed = append(packed, part...)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if packed == nil {
		return nil, fmt.Errorf("%w: %s is missing", errBadContent, r.Name)
	}
	raw, err := l.unpack.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errBadContent, r.Name, err)
	}
	return decode(raw)
}

func (l *Ledger) setContent(txn *kv.Txn, p portalID, id entryID, d digest, raw []byte) error {
	packed := l.pack.EncodeAll(raw, nil)
	for part := byte(0); part == 0 || len(packed) > 0; part++ {
		n := min(len(packed), partSize)
		if err := txn.Set(kv.SpaceHarvest, key(tableContent, p, id[:], []byte(d), []byte{part}), packed[:n]); err != nil {
			return err
		}
		packed = packed[n:]
	}
	return nil
}

func dropContent(txn *kv.Txn, p portalID, id entryID, d digest) error {
	if d == "" {
		return nil
	}
	var keys [][]byte
	err := txn.Scan(kv.SpaceHarvest, key(tableContent, p, id[:], []byte(d)), nil, func(k, _ []byte) (bool, error) {
		keys = append(keys, slices.Clone(k))
		return true, nil
	})
	for _, k := range keys {
		if err == nil {
			err = txn.Delete(kv.SpaceHarvest, k)
		}
	}
	return err
}
