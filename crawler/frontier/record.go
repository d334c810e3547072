package frontier

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/fields"
)

// URL is the frontier's record of one URL. What sources say about its content is the archive's to keep.
type URL struct {
	Key         string        // SURT
	URL         string        // the spelling that is fetched: that of the first source
	Format      string        // of the content, as the first source that has one declares it
	MediaType   string        // likewise
	Period      time.Duration // between updates, as the last source that has one declares it; 0 = not declared
	Group       string
	Added       time.Time
	Due         time.Time // zero: never again
	Priority    float64
	Blacklisted bool

	History      []schedule.Visit // the last historySize visits
	Fetches      int              // all visits
	Errors       int              // the latest visits in a row that yielded no content
	Changes      int              // visits that found a change
	ETag         string
	LastModified string // as the server sent it
	Why          string // the schedule's reason for Due
	Liar         bool   // the server has sent the same validators with other bytes, so requests are not conditional any more

	known  bool  // the database has a record of it
	stored int64 // the due time under which that is; notByTime: in format 1
}

// merge adds what another listing of the URL says, and reports whether that changes the record.
func (u *URL) merge(s catalog.Seed) (changed bool) {
	if u.Format == "" && s.Format != "" {
		u.Format, changed = s.Format, true
	}
	if u.MediaType == "" && s.MediaType != "" {
		u.MediaType, changed = s.MediaType, true
	}
	if s.Period > 0 && s.Period != u.Period {
		u.Period, changed = s.Period, true
	}
	return changed
}

// remember adds a visit to the history and drops the oldest ones beyond historySize.
func (u *URL) remember(v schedule.Visit) {
	u.History = append(u.History, v)
	if extra := len(u.History) - historySize; extra > 0 {
		u.History = slices.Delete(u.History, 0, extra)
	}
}

// recordVersion is the first byte of a record. FORMAT.md describes the versions.
const recordVersion = 2

func (u *URL) encode(b []byte) []byte {
	b = append(b, recordVersion, flag(u.Blacklisted)|flag(u.Liar)<<1)
	w := writer{b}
	w.str(u.URL)
	w.str(u.Group)
	w.int(ms(u.Added))
	w.int(ms(u.Due))
	w.float(u.Priority)
	w.str(u.Format)
	w.str(u.MediaType)
	w.int(int64(u.Period / time.Second))
	w.int(int64(u.Fetches))
	w.int(int64(u.Errors))
	w.int(int64(u.Changes))
	w.str(u.ETag)
	w.str(u.LastModified)
	w.str(u.Why)
	w.int(int64(len(u.History)))
	var at, modified int64
	for _, v := range u.History {
		w.int(ms(v.At) - at)
		at = ms(v.At)
		w.b = append(w.b, outcomeCode(v.Outcome)<<1|flag(v.Changed))
		w.int(ms(v.LastModified) - modified)
		modified = ms(v.LastModified)
	}
	return w.b
}

var errRecord = fmt.Errorf("%w of a URL", ErrDamaged)

func (u *URL) decode(b []byte) error {
	if len(b) < 2 || b[0] < 1 || b[0] > recordVersion {
		return errRecord
	}
	u.Blacklisted, u.Liar = b[1]&1 != 0, b[1]&2 != 0
	r := reader{fields.Reader{B: b[2:]}}
	u.URL = r.Text()
	u.Group = r.Text()
	u.Added = fromMS(r.Varint())
	u.Due = fromMS(r.Varint())
	u.Priority = r.float()
	if b[0] == 1 {
		u.decodeSeed1(&r)
	} else {
		u.Format = r.Text()
		u.MediaType = r.Text()
		u.Period = time.Duration(r.Varint()) * time.Second
	}
	u.Fetches = int(r.Varint())
	u.Errors = int(r.Varint())
	u.Changes = int(r.Varint())
	u.ETag = r.Text()
	u.LastModified = r.Text()
	u.Why = r.Text()
	n := r.count()
	u.History = make([]schedule.Visit, 0, n)
	var at, modified int64
	for ; n > 0; n-- {
		at += r.Varint()
		code := r.Byte()
		modified += r.Varint()
		u.History = append(u.History, schedule.Visit{At: fromMS(at), Outcome: outcomeOf(code >> 1), Changed: code&1 == 1, LastModified: fromMS(modified)})
	}
	if r.Bad() {
		return errRecord
	}
	return nil
}

// outcomes are numbered by their index in records. No number may be given to another outcome.
var outcomes = []catalog.Outcome{"", catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.Blocked, catalog.RobotsDenied, catalog.RetryLater}

func outcomeCode(o catalog.Outcome) byte { return byte(max(0, slices.Index(outcomes, o))) }

func outcomeOf(code byte) catalog.Outcome {
	if int(code) < len(outcomes) {
		return outcomes[code]
	}
	return ""
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

type writer struct{ b []byte }

func (w *writer) int(v int64)     { w.b = binary.AppendVarint(w.b, v) }
func (w *writer) float(v float64) { w.b = binary.AppendUvarint(w.b, bits(v)) }
func (w *writer) str(s string)    { w.b = fields.AppendText(w.b, s) }

// bits returns the bits of a float, bytes reversed, so that round numbers make short varints.
func bits(v float64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
	return binary.BigEndian.Uint64(b[:])
}

// reader reads what writer writes.
type reader struct{ fields.Reader }

func (r *reader) float() float64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], r.Uvarint())
	return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
}

// count reads the number of the things that follow, which is written as a signed number. Each takes at least a byte.
func (r *reader) count() int {
	n := r.Varint()
	if n < 0 || n > int64(len(r.B)) {
		r.Fail()
		return 0
	}
	return int(n)
}
