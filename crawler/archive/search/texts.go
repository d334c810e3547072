package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/inspect"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// traits are what search knows of a resource beside its row: facets that come from what portals say and from the tables
// of the latest version.
type traits struct {
	Publisher string
	Licence   string
	Rows      int64     // of all tables
	Delisted  time.Time // when the last portal ceased to list it; zero if one lists it, or none ever did
}

// texts are the words of a resource that come from what portals say and from its latest version's contents, by field,
// and a text to show. They are stored, so that they can be removed when their sources are gone.
type texts struct {
	Description string // the beginning, for hits and phrases
	Keywords    []string
	words       map[Field][]string
}

// Keys, beside those of update.go.
func traitsKey(doc uint32) []byte { return appendDoc([]byte{traitsTable}, doc) } // document number -> traits
func textsKey(doc uint32) []byte  { return appendDoc([]byte{'t'}, doc) }         // document number -> texts
func markKey(id string) []byte    { return append([]byte{markTable}, id...) }    // resource id -> when it was marked

const (
	traitsTable = 'x'
	markTable   = 'q'
)

func (r traits) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(r.Rows))
	b = binary.AppendVarint(b, unixMilli(r.Delisted))
	return fields.AppendText(fields.AppendText(b, r.Publisher), r.Licence)
}

func decodeTraits(raw []byte) (r traits, ok bool) {
	in := fields.Reader{B: raw}
	r.Rows = int64(in.Uvarint())
	if at := in.Varint(); at != 0 {
		r.Delisted = time.UnixMilli(at).UTC()
	}
	r.Publisher, r.Licence = in.Text(), in.Text()
	return r, !in.Bad() && r.Rows >= 0
}

// eachTraits calls f with all traits, by document number.
func eachTraits(ctx context.Context, txn *kv.Txn, f func(doc uint32, r traits)) error {
	n := 0
	return txn.Scan(kv.SpaceSearch, []byte{traitsTable}, nil, func(k, raw []byte) (bool, error) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		r, ok := decodeTraits(raw)
		if !ok || len(k) != 5 {
			return false, fmt.Errorf("archive: search index: traits %q are damaged", k)
		}
		f(binary.BigEndian.Uint32(k[1:]), r)
		return true, nil
	})
}

// Texts are compressed from this length on, and the stored form begins with how.
const (
	minPacked = 200
	packedNot = 0
	packedZst = 1
	maxTexts  = 128 << 10 // bytes of texts, uncompressed, that are read back; the bounds of words allow about 40 KiB
)

func (t texts) encode(pack *zstd.Encoder) []byte {
	b := fields.AppendText(nil, t.Description)
	b = fields.AppendText(b, strings.Join(t.Keywords, "\n"))
	b = binary.AppendUvarint(b, uint64(len(t.words)))
	for _, f := range slices.Sorted(maps.Keys(t.words)) {
		b = append(b, byte(f))
		b = fields.AppendText(b, strings.Join(t.words[f], " "))
	}
	if len(b) < minPacked {
		return append([]byte{packedNot}, b...)
	}
	return pack.EncodeAll(b, []byte{packedZst})
}

func decodeTexts(raw []byte, unpack *zstd.Decoder) (t texts, ok bool) {
	if len(raw) == 0 {
		return t, false
	}
	body := raw[1:]
	if raw[0] == packedZst {
		var err error
		if body, err = unpack.DecodeAll(body, nil); err != nil {
			return t, false
		}
	} else {
		body = bytes.Clone(body)
	}
	in := fields.Reader{B: body}
	t.Description = in.Text()
	if list := in.Text(); list != "" {
		t.Keywords = strings.Split(list, "\n")
	}
	n := in.Count(2)
	t.words = make(map[Field][]string, n)
	for range n {
		f := Field(in.Byte())
		t.words[f] = strings.Fields(in.Text())
	}
	return t, !in.Bad()
}

// textsOf returns the texts of a document, empty ones if it has none, or if they are damaged: they are only shown, and
// one of their words that is found by mistake does less harm than a search that fails.
func (x *Index) textsOf(txn *kv.Txn, doc uint32) (t texts, err error) {
	_, err = txn.Read(kv.SpaceSearch, textsKey(doc), func(raw []byte) error {
		t, _ = decodeTexts(raw, x.unpack)
		return nil
	})
	return t, err
}

func traitsOf(txn *kv.Txn, doc uint32) (r traits, known bool, err error) {
	known, err = txn.Read(kv.SpaceSearch, traitsKey(doc), func(raw []byte) error {
		var ok bool
		if r, ok = decodeTraits(raw); !ok {
			return fmt.Errorf("archive: search index: traits of document %d are damaged", doc)
		}
		return nil
	})
	return r, known, err
}

// setTexts replaces the texts and traits of a document.
func (u *Update) setTexts(doc uint32, t texts, r traits) error {
	before, err := u.index.textsOf(u.txn.Txn, doc)
	if err != nil {
		return err
	}
	for f := range before.words {
		if t.words[f] == nil {
			u.words.Replace(doc, f, before.words[f], nil)
		}
	}
	for f, words := range t.words {
		u.words.Replace(doc, f, before.words[f], words)
	}
	if err := u.txn.Set(kv.SpaceSearch, textsKey(doc), t.encode(u.index.pack)); err != nil {
		return err
	}
	if was, known, err := traitsOf(u.txn.Txn, doc); err != nil || known && was == r {
		return err
	}
	u.traits[doc] = r
	return u.txn.Set(kv.SpaceSearch, traitsKey(doc), r.encode())
}

// Forget removes what the index has of the contents and descriptions of a resource, in the transaction that withdraws
// its latest version. What portals say of it is indexed again later.
func (u *Update) Forget(id string) error {
	doc, known, err := documentOf(u.txn, id)
	if err != nil || !known {
		return err
	}
	if err := u.setTexts(doc, texts{}, traits{}); err != nil {
		return err
	}
	return u.Mark(id)
}

// Mark has the texts of a resource indexed again, by the next call of IndexTexts.
func (u *Update) Mark(id string) error { return Mark(u.txn.Txn, id) }

// Mark is Update.Mark in a transaction that is not one of the archive.
func Mark(txn *kv.Txn, id string) error { return setMark(txn, id, rand.Uint64()) }

// setMark marks a resource with a value that differs from that of its last mark.
func setMark(txn *kv.Txn, id string, value uint64) error {
	return txn.Set(kv.SpaceSearch, markKey(id), binary.BigEndian.AppendUint64(nil, value))
}

// markNew marks a resource with a new version, and remembers what is searched inside it until IndexTexts needs it.
func (u *Update) markNew(id string, in *inspect.Inside) error {
	value, c := rand.Uint64(), contentsOf(in)
	u.txn.OnCommit(func() { u.index.remember(value, c) })
	return setMark(u.txn.Txn, id, value)
}

// maxRemembered bounds the versions whose words are remembered, each about 1 KB. Others are read again.
const maxRemembered = 2048

func (x *Index) remember(value uint64, c contents) {
	x.newMu.Lock()
	defer x.newMu.Unlock()
	if len(x.new) < maxRemembered {
		if x.new == nil {
			x.new = map[uint64]contents{}
		}
		x.new[value] = c
	}
}

// remembered returns what is searched inside the version for which a mark with a value was made.
func (x *Index) remembered(value []byte) (c contents, ok bool) {
	if len(value) != 8 {
		return c, false
	}
	x.newMu.Lock()
	defer x.newMu.Unlock()
	c, ok = x.new[binary.BigEndian.Uint64(value)]
	return c, ok
}

// forget forgets what was remembered for marks that are done or replaced.
func (x *Index) forget(todo []*marked) {
	x.newMu.Lock()
	defer x.newMu.Unlock()
	for _, one := range todo {
		if len(one.value) == 8 {
			delete(x.new, binary.BigEndian.Uint64(one.value))
		}
	}
	if len(x.new) == maxRemembered { // of marks that others replaced before they were seen
		clear(x.new)
	}
}

// recordOf returns the record of a document.
func recordOf(t records.Txn, doc uint32) (records.Resource, error) {
	raw, ok, err := t.Get(kv.SpaceSearch, rowKey(doc))
	if err != nil {
		return records.Resource{}, err
	}
	row, sound := decodeRow(raw)
	if !ok || !sound {
		return records.Resource{}, fmt.Errorf("archive: search index: row %d is damaged", doc)
	}
	r, known, err := t.Resource(row.ID)
	if err != nil || !known {
		return r, records.OrNotFound(err, "resource", row.ID)
	}
	return r, nil
}
