package search

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// The fields of the index (crawler/archive/search/FORMAT.md). A word counts most in a title.
const (
	fieldTitle    Field = 'T' // of the resource and of its datasets
	fieldAddress  Field = 'A' // URL, file name, format, media type, datasets' IRIs
	fieldColumn   Field = 'C' // column names of the latest version's tables, and what they are called for people
	fieldDocument Field = 'D' // what the latest version says of itself

	// Those of IndexTexts.
	fieldDescription Field = 'B' // descriptions of the datasets, and of the file in them
	fieldKeyword     Field = 'K' // keywords and names of themes
	fieldPublisher   Field = 'P' // names of publishers and creators
	fieldLicence     Field = 'L' // licences, as they are known and as declared
	fieldValue       Field = 'V' // frequent values of columns of texts
)

// Bounds of the words of one resource that a field keeps.
const (
	maxWords       = 300
	maxColumnWords = 2000
)

// state is the index's one record about itself.
type state struct {
	Format int    `json:"format"` // 0 while the index is being built
	Next   uint32 `json:"next"`   // number of the next document
}

// format is the version of the index.
const format = 1

// The keys of the index, by first byte. Words are package wordindex's.
var stateKey = []byte{'s'}           // -> state
func docKey(id string) []byte        { return append([]byte{'i'}, id...) }       // resource id -> document number (4 bytes)
func rowKey(doc uint32) []byte       { return appendDoc([]byte{rowTable}, doc) } // document number -> row
func captureKey(k, id string) []byte { return []byte("k" + k + "\x00" + id) }    // CDX key, 0, resource id

const rowTable = 'n'

func appendDoc(b []byte, doc uint32) []byte { return binary.BigEndian.AppendUint32(b, doc) }

// Update gathers what one transaction changes in the index. Write ends it.
type Update struct {
	index  *Index
	txn    records.Txn
	state  *state // nil until it is needed: most visits change nothing
	was    state  // as it is stored
	words  Changes
	rows   map[uint32]row
	traits map[uint32]traits
}

// Begin starts an update in a transaction.
func (x *Index) Begin(txn *kv.Txn) *Update {
	u := &Update{index: x, txn: records.Txn{Txn: txn}, rows: map[uint32]row{}, traits: map[uint32]traits{}}
	u.words.Newest = &x.newest
	return u
}

// readState reads u.state, unless it is read already.
func (u *Update) readState() error {
	if u.state != nil {
		return nil
	}
	s, known, err := readState(u.txn.Txn)
	if err != nil {
		return err
	}
	u.was = s
	if !known {
		s.Format = format // the index of an empty archive is complete
	}
	u.state = &s
	return nil
}

func readState(txn *kv.Txn) (s state, known bool, err error) {
	known, err = txn.Read(kv.SpaceSearch, stateKey, func(raw []byte) error {
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("archive: search index: its state is damaged: %w", err)
		}
		return nil
	})
	return s, known, err
}

// Write writes what was gathered.
func (u *Update) Write() error {
	if !u.words.Empty() {
		u.txn.OnCommit(func() { u.index.changes.Add(1) })
	}
	if err := u.words.Write(u.txn.Txn); err != nil || len(u.rows)+len(u.traits) == 0 {
		return err
	}
	for doc, r := range u.rows {
		if err := u.txn.Set(kv.SpaceSearch, rowKey(doc), r.encode()); err != nil {
			return err
		}
	}
	u.txn.OnCommit(func() { u.index.facts.apply(u.rows, u.traits) })
	if len(u.rows) == 0 {
		return nil
	}
	return u.writeState()
}

// writeState writes the state if it has changed.
func (u *Update) writeState() error {
	if err := u.readState(); err != nil || *u.state == u.was {
		return err
	}
	raw, err := json.Marshal(u.state)
	if err != nil {
		return err
	}
	return u.txn.Set(kv.SpaceSearch, stateKey, raw)
}

// SetResource indexes a record without its columns; before is the record as it was indexed, zero if it is new.
func (u *Update) SetResource(before, after records.Resource) error {
	r := rowOf(after)
	sameWords := before.ID != "" && before.Title == after.Title && before.Format == after.Format && before.MediaType == after.MediaType &&
		before.FileName == after.FileName && slices.Equal(before.Sources, after.Sources)
	if sameWords && r.equals(rowOf(before)) {
		return nil
	}
	number := u.document
	if before.ID == "" {
		number = u.newDocument
	}
	doc, err := number(after.ID)
	if err != nil {
		return err
	}
	u.rows[doc] = r
	if after.Versions > 0 && before.Versions == 0 {
		if err := u.addCapture(after); err != nil {
			return err
		}
	}
	if sameWords {
		return nil
	}
	if !slices.Equal(before.Sources, after.Sources) {
		if err := u.Mark(after.ID); err != nil {
			return err
		}
	}
	u.words.Replace(doc, fieldTitle, titleWords(before), titleWords(after))
	u.words.Replace(doc, fieldAddress, addressWords(before), addressWords(after))
	return nil
}

// SetColumns indexes the column names of a resource's latest version, and what the version says of itself, and marks
// the resource. former is what was inside the version before, nil if there is none.
func (u *Update) SetColumns(id string, former, latest *inspect.Inside) error {
	doc, err := u.document(id)
	if err != nil {
		return err
	}
	u.words.Replace(doc, fieldColumn, columnWords(former), columnWords(latest))
	u.words.Replace(doc, fieldDocument, documentWords(former), documentWords(latest))
	return u.markNew(id, latest)
}

// document returns the document number of a resource; a new resource gets the next number.
func (u *Update) document(id string) (uint32, error) {
	doc, known, err := documentOf(u.txn, id)
	if err != nil || known {
		return doc, err
	}
	return u.newDocument(id)
}

// newDocument numbers a resource that has no document yet.
func (u *Update) newDocument(id string) (doc uint32, err error) {
	if err := u.readState(); err != nil {
		return 0, err
	}
	doc = u.state.Next
	u.state.Next++
	u.words.Newest.Add(doc)
	return doc, u.txn.Set(kv.SpaceSearch, docKey(id), appendDoc(nil, doc))
}

func documentOf(txn records.Txn, id string) (doc uint32, known bool, err error) {
	_, err = txn.Read(kv.SpaceSearch, docKey(id), func(raw []byte) error {
		if known = len(raw) == 4; known {
			doc = binary.BigEndian.Uint32(raw)
		}
		return nil
	})
	return doc, known, err
}

// documentOfURL returns the document number of a URL or a resource id.
func documentOfURL(txn records.Txn, urlOrID string) (doc uint32, known bool) {
	id := urlOrID
	if !ns.IsResourceID(id) {
		var err error
		if id, err = records.ResourceID(urlOrID); err != nil {
			return 0, false
		}
	}
	doc, known, err := documentOf(txn, id)
	return doc, known && err == nil
}

// addCapture lists a resource for Captures, which needs those that have versions only. A URL without a CDX key, or
// whose key is too long for the database, is left out.
func (u *Update) addCapture(r records.Resource) error {
	k, err := address.CDX(r.URL)
	if err != nil || len(k) > kv.MaxKey-100 {
		return nil
	}
	return u.txn.Set(kv.SpaceSearch, captureKey(k, r.ID), nil)
}

func titleWords(r records.Resource) []string {
	text := []string{r.Title}
	for _, s := range r.Sources[:min(len(r.Sources), 20)] {
		if !slices.Contains(text, s.DatasetTitle) {
			text = append(text, s.DatasetTitle)
		}
	}
	return Words(strings.Join(text, "\n"), maxWords, true)
}

func addressWords(r records.Resource) []string {
	if r.ID == "" {
		return nil
	}
	text := []string{unescaped(r.URL), r.FileName, r.Format, r.MediaType}
	for _, d := range r.Datasets[:min(len(r.Datasets), 20)] {
		text = append(text, unescaped(d))
	}
	return Words(strings.Join(text, "\n"), maxWords, true)
}

// unescaped decodes the percent-encoding of an address, if all of it is valid.
func unescaped(address string) string {
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}

// columnWords returns the words of the column names of a version's tables.
func columnWords(in *inspect.Inside) []string {
	words := make([]string, 0, 16)
	seen := map[string]bool{}
	names := 0
	for name := range columnNames(in) {
		for _, w := range Words(name, 50, true) {
			if !seen[w] && len(words) < maxColumnWords {
				seen[w] = true
				words = append(words, w)
			}
		}
		if names++; names == maxColumnWords {
			break
		}
	}
	return words
}

// columnNames yields the column names of all tables of a file that come from their headers, and the other titles that
// the columns have, as the labels of variables in the files of statistics programs.
func columnNames(in *inspect.Inside) iter.Seq[string] {
	return func(yield func(string) bool) {
		if in == nil {
			return
		}
		for _, table := range tablesOf(in) {
			for _, c := range table.Columns {
				if !strings.HasPrefix(c.Name, "_col.") && !yield(c.Name) {
					return
				}
				for _, title := range c.Titles {
					if title != c.Name && !yield(title) {
						return
					}
				}
			}
		}
	}
}

// tablesOf returns all tables of a file and of its members.
func tablesOf(in *inspect.Inside) []*csvprofile.Profile {
	if in == nil {
		return nil
	}
	tables := slices.Clone(in.Tables)
	for _, m := range in.Members {
		tables = append(tables, m.Tables...)
	}
	return tables
}

// LatestInside returns what is inside the latest version of a resource. An unreadable record counts as empty: the words
// of its columns stay in the index.
func LatestInside(txn records.Txn, r records.Resource) (*inspect.Inside, error) {
	in, err := txn.Inside(ns.VersionID(r.ID, r.LatestN()))
	if errors.Is(err, records.ErrBadRecord) {
		return nil, nil
	}
	return in, err
}
