package warc

import (
	"encoding/base32"
	"fmt"
	"io"
	"strings"
)

// Verifier compares the digests that a record states with those of its block while other code reads the block. It does
// not compare digests that Check does not compare, nor values whose length does not fit their algorithm.
type Verifier struct {
	rec  *Record
	sums []*digest
	by   []*Digester // one for each of sums
}

// Watch returns a Verifier of a record. It replaces rec.Block by a reader that computes the digests.
func Watch(rec *Record) *Verifier {
	v := &Verifier{rec: rec}
	for _, d := range digests(rec) {
		size := d.sum.Size()
		if n := len(strings.TrimRight(d.value, "=")); n != 2*size &&
			n != base32.StdEncoding.WithPadding(base32.NoPadding).EncodedLen(size) {
			continue
		}
		by := NewDigesterOf(d.payload && auditIsHTTP(rec), d.algorithm)
		v.sums, v.by = append(v.sums, d), append(v.by, by)
		rec.Block = io.TeeReader(rec.Block, by)
	}
	return v
}

// Fault reads the rest of the block and returns the first digest that differs, or nil if all are right. It also returns
// nil if the block cannot be read to its end, which the reader of the file reports.
func (v *Verifier) Fault() *Fault {
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
			return &Fault{Offset: v.rec.Offset, Why: fmt.Sprintf("the %s digest is %x, the record says %.100s", d.name, got, d.stated)}
		}
	}
	return nil
}

// auditIsHTTP reports whether the block of a record is an HTTP message.
func auditIsHTTP(rec *Record) bool {
	contentType, _, _ := strings.Cut(rec.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(contentType), "application/http")
}
