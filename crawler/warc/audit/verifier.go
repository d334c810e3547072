package audit

import (
	"encoding/base32"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/warc"
)

// Verifier compares the digests that a record states with those of its block, for readers of the block that need not
// know about digests. Digests that Check would not compare are not compared, nor values that are no digest of their
// algorithm: they say nothing about the bytes.
type Verifier struct {
	rec  *warc.Record
	sums []*digest
	by   []*warc.Digester // one for each of sums
}

// Watch makes the record's block compute the stated digests while it is read.
func Watch(rec *warc.Record) *Verifier {
	v := &Verifier{rec: rec}
	for _, d := range digests(rec) {
		size := d.sum.Size()
		if n := len(strings.TrimRight(d.value, "=")); n != 2*size && n != base32.StdEncoding.WithPadding(base32.NoPadding).EncodedLen(size) {
			continue
		}
		by := warc.NewDigesterOf(d.payload && isHTTP(rec), d.algorithm)
		v.sums, v.by = append(v.sums, d), append(v.by, by)
		rec.Block = io.TeeReader(rec.Block, by)
	}
	return v
}

// Fault reads the rest of the block, and returns the first digest that differs, nil if there is none. It returns nil for
// a block that cannot be read to its end, too: the reader of the file says that.
func (v *Verifier) Fault() *warc.Fault {
	if len(v.sums) == 0 {
		return nil
	}
	if _, err := io.Copy(io.Discard, v.rec.Block); err != nil {
		return nil
	}
	for i, d := range v.sums {
		block, sent, body := v.by[i].Sums()
		got := block
		if d.payload {
			got = sent
		}
		if !d.matches(got) && !(d.payload && body != nil && d.matches(body)) {
			return &warc.Fault{Offset: v.rec.Offset, Why: fmt.Sprintf("the %s digest is %x, the record says %.100s", d.name, got, d.stated)}
		}
	}
	return nil
}

// isHTTP reports whether the block of a record is an HTTP message.
func isHTTP(rec *warc.Record) bool {
	contentType, _, _ := strings.Cut(rec.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(contentType), "application/http")
}
