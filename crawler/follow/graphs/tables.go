package graphs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Tables in kv.SpaceGraphs, by first byte of the key. See FORMAT.md.
const (
	tableGraph   = 'g' // graph                -> record
	tableContent = 'b' // graph, digest, part  -> a part of the statements
	tableLeads   = 'o' // resource             -> graph
	tableOwner   = 'w' // graph, resource      -> nothing
	tableSource  = 's' // source, graph        -> nothing
	tablePortal  = 'p' // portal               -> its IRI
)

type (
	graphID [16]byte // of the URL of the document
	digest  string   // of the statements, in hexadecimal; "" for none
)

// record is the record of one graph.
type record struct {
	URL     string `json:"u"`
	Name    string `json:"n"` // of the graph
	Version string `json:"v,omitempty"`
	Digest  digest `json:"d,omitempty"`
	Quads   int    `json:"q,omitempty"`
	Parts   int    `json:"p,omitempty"`
	Omitted string `json:"o,omitempty"`
	Source  string `json:"s,omitempty"`
}

// maxPart is the maximum size of a part before compression, in bytes, unless it has only one statement.
const maxPart = 512 << 10

// errBad is wrapped by errors about records that cannot be read.
var errBad = errors.New("a record of a content graph is damaged")

// tables reads and writes the records in one transaction.
type tables struct {
	s   *Store
	txn *kv.Txn
}

func key(table byte, parts ...[]byte) []byte {
	return append([]byte{table}, bytes.Join(parts, nil)...)
}

func partKey(id graphID, d digest, n int) []byte {
	return binary.BigEndian.AppendUint16(partsKey(id, d), uint16(n))
}

// partsKey returns what the keys of all parts of a content begin with.
func partsKey(id graphID, d digest) []byte {
	sum, _ := hex.DecodeString(string(d))
	return key(tableContent, id[:], sum)
}

func (t tables) record(id graphID) (r record, known bool, err error) {
	b, known, err := t.txn.Get(kv.SpaceGraphs, key(tableGraph, id[:]))
	if err != nil || !known {
		return r, false, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, false, fmt.Errorf("%w: %w", errBad, err)
	}
	return r, true, nil
}

func (t tables) setRecord(id graphID, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return t.txn.Set(kv.SpaceGraphs, key(tableGraph, id[:]), b)
}

func (t tables) delete(id graphID) error { return t.txn.Delete(kv.SpaceGraphs, key(tableGraph, id[:])) }

// leadsTo returns the graph of the document to which a resource leads.
func (t tables) leadsTo(resource string) (id graphID, known bool, err error) {
	was, known, err := t.txn.Get(kv.SpaceGraphs, leadsKey(resource))
	if err != nil || !known || len(was) != len(id) {
		return id, false, err
	}
	return graphID(was), true, nil
}

// move records that a resource leads to the document of a graph. If it led to the document of another graph before,
// move returns that graph, otherwise zero.
func (t tables) move(resource string, id graphID) (before graphID, err error) {
	was, known, err := t.txn.Get(kv.SpaceGraphs, leadsKey(resource))
	if err != nil || known && bytes.Equal(was, id[:]) {
		return graphID{}, err
	}
	if known && len(was) == len(before) {
		before = graphID(was)
		if err := t.txn.Delete(kv.SpaceGraphs, key(tableOwner, before[:], []byte(resource))); err != nil {
			return before, err
		}
	}
	if err := t.txn.Set(kv.SpaceGraphs, leadsKey(resource), id[:]); err != nil {
		return before, err
	}
	return before, t.txn.Set(kv.SpaceGraphs, key(tableOwner, id[:], []byte(resource)), nil)
}

// hasOwner reports whether a resource leads to the document of a graph.
func (t tables) hasOwner(id graphID) (owned bool, err error) {
	err = t.txn.Scan(kv.SpaceGraphs, key(tableOwner, id[:]), nil, func(_, _ []byte) (bool, error) {
		owned = true
		return false, nil
	})
	return owned, err
}

// content returns the statements of a graph as its record has them.
func (t tables) content(id graphID, r record) (quads []term.Quad, err error) {
	if r.Digest == "" {
		return nil, nil
	}
	quads = make([]term.Quad, 0, r.Quads)
	var rest []byte
	for i := range r.Parts {
		packed, ok, err := t.txn.Get(kv.SpaceGraphs, partKey(id, r.Digest, i))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("%w: part %d of %s is missing", errBad, i, r.Name)
		}
		if rest, err = t.s.unpack.DecodeAll(packed, rest); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errBad, r.Name, err)
		}
		if quads, rest, err = statements(quads, rest); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	if len(rest) > 0 || len(quads) != r.Quads {
		return nil, fmt.Errorf("%w: %s has %d statements, %d were expected", errBad, r.Name, len(quads), r.Quads)
	}
	return quads, nil
}

// statements appends the statements of a decompressed part to quads. A part has only complete statements.
func statements(quads []term.Quad, b []byte) ([]term.Quad, []byte, error) {
	r := fields.Reader{B: b}
	for len(r.B) > 0 {
		q := term.Quad{S: term.Key(r.Text()), P: term.Key(r.Text()), O: term.Key(r.Text())}
		if r.Bad() {
			return nil, nil, errBad
		}
		quads = append(quads, q)
	}
	return quads, b[:0], nil
}

// packed returns the digest of sorted statements and the compressed parts in which they are stored.
func (s *Store) packed(quads []term.Quad) (digest, [][]byte) {
	if len(quads) == 0 {
		return "", nil
	}
	sum := sha256.New()
	var parts [][]byte
	var b []byte
	flush := func() {
		sum.Write(b)
		parts = append(parts, s.pack.EncodeAll(b, nil))
		b = b[:0]
	}
	for _, q := range quads {
		size := len(b)
		b = appendStatement(b, q)
		if len(b) > maxPart && size > 0 { // the statement begins the next part
			last := slices.Clone(b[size:])
			b = b[:size]
			flush()
			b = append(b, last...)
		}
	}
	flush()
	return digestOf(sum), parts
}

// appendStatement appends the encoding of a statement.
func appendStatement(b []byte, q term.Quad) []byte {
	for _, k := range [3]term.Key{q.S, q.P, q.O} {
		b = fields.AppendText(b, string(k))
	}
	return b
}

// digestOf returns the digest of the statements that were written to a SHA-256 hash.
func digestOf(sum hash.Hash) digest { return digest(hex.EncodeToString(sum.Sum(nil)[:16])) }

// partsPerTxn is the maximum number of bytes that one transaction of writeParts writes, unless a single part is longer.
const partsPerTxn = 2 << 20

// writeParts writes the parts of a large content in several transactions. If no record comes to name them, they are
// removed when the next large content of the graph is written, and by Purge.
func (s *Store) writeParts(ctx context.Context, c *Content) error {
	for at := 0; at < len(c.parts); {
		end, size := at, 0
		for end < len(c.parts) && (end == at || size+len(c.parts[end]) <= partsPerTxn) {
			size += len(c.parts[end])
			end++
		}
		err := s.db.Update(ctx, func(txn *kv.Txn) error {
			t := tables{s, txn}
			if at == 0 {
				if err := t.deleteOthers(c.id, c.digest); err != nil {
					return err
				}
			}
			for i := at; i < end; i++ {
				if err := txn.Set(kv.SpaceGraphs, partKey(c.id, c.digest, i), c.parts[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// deleteOthers deletes the parts of all contents of a graph except the recorded content and the one with digest d.
func (t tables) deleteOthers(id graphID, d digest) error {
	r, _, err := t.record(id)
	if err != nil {
		return err
	}
	var lost [][]byte
	err = t.txn.Scan(kv.SpaceGraphs, key(tableContent, id[:]), nil, func(k, _ []byte) (bool, error) {
		if of := digest(hex.EncodeToString(k[1+len(id) : len(k)-2])); of != d && of != r.Digest {
			lost = append(lost, bytes.Clone(k))
		}
		return true, nil
	})
	for _, k := range lost {
		if err == nil {
			err = t.txn.Delete(kv.SpaceGraphs, k)
		}
	}
	return err
}

// setContent stores the parts that Prepare has not written, or that were dropped since, and deletes those of the
// content before.
func (t tables) setContent(c *Content, before, next record) error {
	if next.Digest != "" {
		for i, part := range c.parts {
			k, written := partKey(c.id, next.Digest, i), false
			if c.isLarge() {
				var err error
				if _, written, err = t.txn.Get(kv.SpaceGraphs, k); err != nil {
					return err
				}
			}
			if written {
				continue
			}
			if err := t.txn.Set(kv.SpaceGraphs, k, part); err != nil {
				return err
			}
		}
	}
	return t.deleteParts(c.id, before)
}

func (t tables) deleteParts(id graphID, r record) error {
	for i := range r.Parts {
		if err := t.txn.Delete(kv.SpaceGraphs, partKey(id, r.Digest, i)); err != nil {
			return err
		}
	}
	return nil
}

func compare(a, b term.Quad) int {
	return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.P, b.P), cmp.Compare(a.O, b.O))
}

func sourceKey(source string, id graphID) []byte {
	of := idOf(source)
	return key(tableSource, of[:], id[:])
}

func (t tables) setSource(id graphID, source string) error {
	return t.txn.Set(kv.SpaceGraphs, sourceKey(source, id), nil)
}

func (t tables) deleteSource(id graphID, source string) error {
	return t.txn.Delete(kv.SpaceGraphs, sourceKey(source, id))
}

// ofSource returns the graphs of a source.
func (t tables) ofSource(source string) (all []graphID, err error) {
	of := idOf(source)
	err = t.txn.Scan(kv.SpaceGraphs, key(tableSource, of[:]), nil, func(k, _ []byte) (bool, error) {
		all = append(all, graphID(k[1+len(of):]))
		return true, nil
	})
	return all, err
}
