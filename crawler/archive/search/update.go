package archive

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/wordindex"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The fields of the search index (crawler/archive/wordindex/FORMAT.md), where a word in a title counts most.
const (
	fieldTitle   wordindex.Field = 'T' // of the resource and of its datasets
	fieldAddress wordindex.Field = 'A' // URL, file name, format, media type, datasets' IRIs
	fieldColumn  wordindex.Field = 'C' // column names of the latest version's tables
)

// How many words of one resource are kept in a field.
const (
	maxWords       = 300
	maxColumnWords = 2000
)

// searchState is the one record of the search index about itself.
type searchState struct {
	Format int    `json:"format"` // 0 while the index is being made again
	Next   uint32 `json:"next"`   // number of the next document
}

const searchFormat = 1

var searchStateKey = []byte{'s'}

func docKey(id string) []byte  { return append([]byte{'i'}, id...) }
func rowKey(doc uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'n'}, doc) }
func docOf(raw []byte) uint32  { return binary.BigEndian.Uint32(raw) }
func docValue(d uint32) []byte { return binary.BigEndian.AppendUint32(nil, d) }
func isDocValue(v []byte) bool { return len(v) == 4 }

// finding is what one transaction changes in the search index, and what it counts.
type finding struct {
	state   searchState
	words   wordindex.Changes
	rows    map[uint32]row
	counted []counted
	tallies map[counted]*tally // nil where each is written at once
	listed  map[string]bool    // datasets of portals that are known to have resources, by their prefix in tableByPortal
}

func (t tables) searchState() (s searchState, known bool, err error) {
	raw, known, err := t.txn.Get(kv.SpaceSearch, searchStateKey)
	if err != nil || !known {
		return s, false, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, false, fmt.Errorf("archive: search index: its state is damaged: %w", err)
	}
	return s, true, nil
}

// writing is tables for a transaction that changes resources; save ends it.
func (a *Archive) writing(txn *kv.Txn) (tables, error) {
	t := tables{txn: txn, finding: &finding{rows: map[uint32]row{}}, tallies: &a.tallies}
	s, known, err := t.searchState()
	if !known {
		s.Format = searchFormat // an empty archive's index is complete
	}
	t.finding.state = s
	return t, err
}

// save writes what was gathered for the search index.
func (a *Archive) save(t tables) error {
	f := t.finding
	if err := t.saveTallies(); err != nil {
		return err
	}
	t.txn.OnCommit(func() { a.changeLists.noteCommit(f.counted) }) // also of what is counted from here on
	if len(f.rows) == 0 {
		return nil
	}
	if err := f.words.Write(t.txn); err != nil {
		return err
	}
	for doc, r := range f.rows {
		if err := t.txn.Set(kv.SpaceSearch, rowKey(doc), r.encode()); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(f.state)
	if err != nil {
		return err
	}
	t.txn.OnCommit(func() { a.facts.changed(f.rows) })
	return t.txn.Set(kv.SpaceSearch, searchStateKey, raw)
}

// columns are the words of the columns of a version and of the one before it.
type columns struct{ before, after []string }

// find keeps the search index in step with a record; names is nil where no version was added.
func (t tables) find(before, after record, names *columns) error {
	doc, err := t.number(after.ID)
	if err != nil {
		return err
	}
	t.finding.rows[doc] = rowOf(after)
	if before.ID == "" {
		if err := t.markCapture(after); err != nil {
			return err
		}
	}
	if names != nil {
		t.finding.words.Replace(doc, fieldColumn, names.before, names.after)
	}
	if before.ID != "" && before.Title == after.Title && before.Format == after.Format && before.MediaType == after.MediaType &&
		before.FileName == after.FileName && slices.Equal(before.Sources, after.Sources) {
		return nil
	}
	t.finding.words.Replace(doc, fieldTitle, titleWords(before), titleWords(after))
	t.finding.words.Replace(doc, fieldAddress, addressWords(before), addressWords(after))
	return nil
}

// number of a resource in the index; a new one gets the next.
func (t tables) number(id string) (uint32, error) {
	raw, known, err := t.txn.Get(kv.SpaceSearch, docKey(id))
	if err != nil {
		return 0, err
	}
	if known && isDocValue(raw) {
		return docOf(raw), nil
	}
	doc := t.finding.state.Next
	t.finding.state.Next++
	return doc, t.txn.Set(kv.SpaceSearch, docKey(id), docValue(doc))
}

// markCapture makes a resource's URL known to Captures. A URL without a key of that kind is left out, and one whose key is
// longer than the database takes.
func (t tables) markCapture(r record) error {
	k, err := address.CDX(r.URL)
	if err != nil || len(k) > kv.MaxKey-100 {
		return nil
	}
	return t.txn.Set(kv.SpaceSearch, captureKey(k, r.ID), nil)
}

func captureKey(surtKey, id string) []byte { return append([]byte("k"+surtKey+"\x00"), id...) }

func titleWords(r record) []string {
	text := []string{r.Title}
	for _, s := range r.Sources[:min(len(r.Sources), 20)] {
		if !slices.Contains(text, s.DatasetTitle) {
			text = append(text, s.DatasetTitle)
		}
	}
	return wordindex.Words(strings.Join(text, "\n"), maxWords, true)
}

func addressWords(r record) []string {
	if r.ID == "" {
		return nil
	}
	text := []string{readable(r.URL), r.FileName, r.Format, r.MediaType}
	for _, d := range r.Datasets[:min(len(r.Datasets), 20)] {
		text = append(text, readable(d))
	}
	return wordindex.Words(strings.Join(text, "\n"), maxWords, true)
}

// readable is an address as its words are written.
func readable(address string) string {
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}

// columnWords are the words of the column names of what a version holds.
func columnWords(in *inspect.Inside) []string {
	var names []string
	for name := range columnNames(in) {
		names = append(names, name)
		if len(names) == maxColumnWords {
			break
		}
	}
	words := make([]string, 0, len(names))
	seen := map[string]bool{}
	for _, name := range names {
		for _, w := range wordindex.Words(name, 50, true) {
			if !seen[w] && len(words) < maxColumnWords {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

// columnNames goes through the names of the columns of all tables of a file, as its header has them.
func columnNames(in *inspect.Inside) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if in == nil {
			return
		}
		tables := slices.Clone(in.Tables)
		for _, m := range in.Members {
			tables = append(tables, m.Tables...)
		}
		for _, table := range tables {
			for _, c := range table.Columns {
				if !strings.HasPrefix(c.Name, "_col.") && !yield(c.Name) {
					return
				}
			}
		}
	}
}

// row is what search knows of a resource without looking at its record.
type row struct {
	ID       string
	Changed  time.Time
	Versions int
	Size     int64
	Outcome  catalog.Outcome
	Type     string
	Host     string
	Title    string // to sort by: lower case, at most 64 bytes
	Portals  []string
}

const maxSortTitle = 64

func rowOf(r record) row {
	title := r.Title
	if title == "" {
		title = r.FileName
	}
	title = strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(title, "\uFFFD")))
	if len(title) > maxSortTitle {
		end := maxSortTitle
		for !utf8.RuneStart(title[end]) {
			end--
		}
		title = title[:end]
	}
	return row{ID: r.ID, Changed: r.Changed, Versions: r.Versions, Size: r.Size, Outcome: r.Outcome, Type: r.MediaType, Host: r.Host, Title: title, Portals: r.Portals}
}

func (r row) encode() []byte {
	id, err := hex.DecodeString(r.ID)
	if err != nil {
		panic("archive: resource id " + r.ID) // made by ns.ResourceID
	}
	var at int64
	if !r.Changed.IsZero() {
		at = r.Changed.UnixMilli()
	}
	b := binary.AppendVarint(id, at)
	b = binary.AppendUvarint(b, uint64(r.Versions))
	b = binary.AppendUvarint(b, uint64(r.Size))
	b = binary.AppendUvarint(b, uint64(4+len(r.Portals)))
	for _, s := range append([]string{string(r.Outcome), r.Type, r.Host, r.Title}, r.Portals...) {
		b = fields.AppendText(b, s)
	}
	return b
}

// decodeRow reads what encode wrote.
func decodeRow(raw []byte) (r row, ok bool) {
	if len(raw) < ridLen/2 {
		return r, false
	}
	r.ID = hex.EncodeToString(raw[:ridLen/2])
	in := fields.Reader{B: raw[ridLen/2:]}
	if at := in.Varint(); at != 0 {
		r.Changed = time.UnixMilli(at).UTC()
	}
	r.Versions, r.Size = int(in.Uvarint()), int64(in.Uvarint())
	texts := make([]string, max(4, in.Count(1)))
	for i := range texts {
		texts[i] = in.Text()
	}
	if in.Bad() {
		return r, false
	}
	r.Outcome, r.Type, r.Host, r.Title, r.Portals = catalog.Outcome(texts[0]), texts[1], texts[2], texts[3], texts[4:]
	return r, true
}

// docOfURL is the number of a URL's resource.
func (t tables) docOfURL(address string) (doc uint32, known bool) {
	id := address
	if !ns.IsResourceID(id) {
		var err error
		if id, err = ResourceID(address); err != nil {
			return 0, false
		}
	}
	raw, known, err := t.txn.Get(kv.SpaceSearch, docKey(id))
	if err != nil || !known || !isDocValue(raw) {
		return 0, false
	}
	return docOf(raw), true
}
