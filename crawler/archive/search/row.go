package search

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// row is what search knows of a resource without reading its record.
type row struct {
	ID       string
	Changed  time.Time
	Versions int
	Size     int64
	Outcome  catalog.Outcome
	Type     string
	Host     string
	Title    string // to sort by: lower case, at most maxSortTitle bytes
	Portals  []string
}

const maxSortTitle = 64

func rowOf(r records.Resource) row {
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
	return row{ID: r.ID, Changed: r.Changed, Versions: r.Versions, Size: r.Size, Outcome: r.Outcome, Type: r.MediaType, Host: r.Host,
		Title: title, Portals: r.Portals}
}

// equals reports whether two rows have the same record.
func (r row) equals(o row) bool {
	return r.ID == o.ID && unixMilli(r.Changed) == unixMilli(o.Changed) && r.Versions == o.Versions && r.Size == o.Size &&
		r.Outcome == o.Outcome &&
		r.Type == o.Type && r.Host == o.Host && r.Title == o.Title && slices.Equal(r.Portals, o.Portals)
}

// unixMilli returns t in Unix milliseconds, 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (r row) encode() []byte {
	id, err := hex.DecodeString(r.ID)
	if err != nil {
		panic("archive: resource id " + r.ID) // made by ns.ResourceID
	}
	b := binary.AppendVarint(id, unixMilli(r.Changed))
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
	const idLen = records.IDLen / 2
	if len(raw) < idLen {
		return r, false
	}
	r.ID = hex.EncodeToString(raw[:idLen])
	in := fields.Reader{B: raw[idLen:]}
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

// eachRow calls f with all rows, by document number.
func eachRow(ctx context.Context, txn *kv.Txn, f func(doc uint32, r row)) error {
	n := 0
	return txn.Scan(kv.SpaceSearch, []byte{rowTable}, nil, func(k, raw []byte) (bool, error) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		r, ok := decodeRow(raw)
		if !ok || len(k) != 5 {
			return false, fmt.Errorf("archive: search index: row %q is damaged", k)
		}
		f(binary.BigEndian.Uint32(k[1:]), r)
		return true, nil
	})
}
