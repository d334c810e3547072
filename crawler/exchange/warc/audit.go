// Checks WARC files: the structure of the file, the fields that every record must have, and digests.

package warc

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http/httputil"
	"strings"
)

// AuditResult has the counts of a check.
type AuditResult struct {
	Records int
	Digests int // digests compared
	Faults  int
}

// maxIDs bounds the number of record ids that are kept to find duplicates, of 16 bytes each.
const maxIDs = 64 << 20

// Check reads a file to its end and calls fault for each fault. An error means that the file could not be read.
//
// A payload digest is accepted for the body with or without its chunks, since programs disagree. Digests with unknown
// algorithms are not compared, nor payload digests of revisit records and segments, whose payload is in other records.
// The segments of a record must be in the same file.
func Check(r io.Reader, fault func(Fault)) (AuditResult, error) {
	c := &checker{fault: fault, seen: map[[16]byte]bool{}}
	in := NewReader(r, Limits{})
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, faults := c.segments.Join()
			for _, f := range faults {
				c.report(f.Offset, "%s", f.Why)
			}
			if c.Records == 0 && c.Faults == 0 && in.Position() > 0 {
				c.report(0, "the file has no records")
			}
			return c.AuditResult, nil
		}
		if f, ok := errors.AsType[*Fault](err); ok {
			c.report(f.Offset, "%s", f.Why)
			continue
		}
		if err != nil {
			return c.AuditResult, err
		}
		c.Records++
		sums := c.fields(rec)
		read := c.read(rec, sums)
		if f, ok := errors.AsType[*Fault](in.Finish()); ok { // an incomplete block has no digest
			c.report(f.Offset, "%s", f.Why)
			continue
		}
		if read != nil {
			return c.AuditResult, read
		}
		c.segments.Add(rec)
		for _, s := range sums {
			c.compare(rec, s)
		}
	}
}

type checker struct {
	AuditResult
	fault    func(Fault)
	seen     map[[16]byte]bool
	segments Segments
}

func (c *checker) report(offset int64, format string, args ...any) {
	c.Faults++
	c.fault(Fault{Offset: offset, Why: fmt.Sprintf(format, args...)})
}

// fields checks the fields of a record, and returns the digests to compare.
func (c *checker) fields(rec *Record) []*digest {
	if strings.HasPrefix(rec.Version, "ARC") {
		return nil
	}
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if rec.Header.Get(name) == "" {
			c.report(rec.Offset, "the record has no %s", name)
		}
	}
	if s := rec.Header.Get("WARC-Date"); s != "" {
		if _, err := rec.Date(); err != nil {
			c.report(rec.Offset, "WARC-Date %.60q is not a date", s)
		}
	}
	if id := rec.ID(); id != "" && len(c.seen) < maxIDs {
		key := md5.Sum([]byte(id))
		if c.seen[key] {
			c.report(rec.Offset, "another record has the id %.100s, too", id)
		}
		c.seen[key] = true
	}
	return digests(rec)
}

// digests returns the digests of a record that can be compared.
func digests(rec *Record) (sums []*digest) {
	if d := parse(rec.Header.Get("WARC-Block-Digest")); d != nil {
		d.name = "block"
		sums = append(sums, d)
	}
	if d := parse(rec.Header.Get("WARC-Payload-Digest")); d != nil && rec.Type != Revisit && !IsSegment(rec) {
		d.name, d.payload = "payload", true
		sums = append(sums, d)
	}
	return sums
}

// read reads the block of a record and computes its digests.
func (c *checker) read(rec *Record, sums []*digest) error {
	var whole, payload []io.Writer
	for _, d := range sums {
		if d.payload {
			payload = append(payload, d.sum)
		} else {
			whole = append(whole, d.sum)
		}
	}
	block := io.TeeReader(rec.Block, io.MultiWriter(whole...))
	if len(payload) == 0 {
		_, err := io.Copy(io.Discard, block)
		return unlessFault(err)
	}
	var body io.Reader = block
	var chunked bool
	if auditIsHTTP(rec) {
		m, rest, err := ReadMessage(block)
		if err != nil {
			_, copyErr := io.Copy(io.Discard, block)
			return unlessFault(copyErr) // a block that is not an HTTP message has the payload digest of an empty body
		}
		body, chunked = rest, m.Chunked()
	}
	sent := io.TeeReader(body, io.MultiWriter(payload...))
	if chunked {
		var plain []io.Writer
		for _, d := range sums {
			if d.payload {
				d.plain = d.algorithm()
				plain = append(plain, d.plain)
			}
		}
		if _, err := io.Copy(io.MultiWriter(plain...), httputil.NewChunkedReader(sent)); err != nil {
			for _, d := range sums {
				d.plain = nil
			}
		}
	}
	_, err := io.Copy(io.Discard, sent)
	return unlessFault(err)
}

// unlessFault returns err, or nil if it is a fault of the record, which Finish returns as well.
func unlessFault(err error) error {
	if _, ok := errors.AsType[*Fault](err); ok {
		return nil
	}
	return err
}

// compare reports a fault if the block does not have a digest that the record states.
func (c *checker) compare(rec *Record, d *digest) {
	c.Digests++
	got := d.sum.Sum(nil)
	if d.matches(got) || d.plain != nil && d.matches(d.plain.Sum(nil)) {
		return
	}
	c.report(rec.Offset, "the %s digest is %x, the record says %.100s", d.name, got, d.stated)
}

// digest is a digest that a record states, and the sums to compare with it.
type digest struct {
	name      string // "block" or "payload"
	payload   bool
	stated    string
	value     string
	algorithm func() hash.Hash
	sum       hash.Hash
	plain     hash.Hash // of the body without chunks; nil if it is not in chunks
}

var algorithms = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New, "sha384": sha512.New384,
	"md5": md5.New}

// parse returns nil for a digest of an unknown algorithm or form.
func parse(s string) *digest {
	name, value, ok := strings.Cut(s, ":")
	algorithm := algorithms[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "")]
	if !ok || algorithm == nil {
		return nil
	}
	return &digest{stated: s, value: strings.TrimSpace(value), algorithm: algorithm, sum: algorithm()}
}

// matches reports whether a sum equals the stated value, which has hexadecimal or base32 digits in upper or lower case,
// with or without padding.
func (d *digest) matches(sum []byte) bool {
	value := strings.TrimRight(d.value, "=")
	return strings.EqualFold(value, hex.EncodeToString(sum)) ||
		strings.EqualFold(value, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum))
}
