package frontier

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/fields"
)

// URL is the frontier's record of one URL. What sources say about its content is the archive's to keep.
type URL struct {
	Key         string        // SURT
	URL         string        // the spelling that is fetched: that of the first source
	Format      string        // of the content, as the first source that has one declares it
	MediaType   string        // likewise
	Accept      string        // what to ask the server for, as in catalog.Seed; part of what ETag and LastModified belong to
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
	stored int64 // the due time under which that is
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
	if s.Accept != "" && u.Accept == "" && (!u.known || u.Format == "" && u.MediaType == "") { // a listed file stays what it was listed as
		u.setAccept(s.Accept)
		changed = true
	}
	return changed
}

// setAccept sets what the server is asked for. Validators of an answer to another question are dropped.
func (u *URL) setAccept(accept string) {
	if u.Accept != accept {
		u.Accept, u.ETag, u.LastModified = accept, "", ""
	}
}

// remember adds a visit to the history and drops the oldest ones beyond historySize.
func (u *URL) remember(v schedule.Visit) {
	u.History = append(u.History, v)
	if extra := len(u.History) - historySize; extra > 0 {
		u.History = slices.Delete(u.History, 0, extra)
	}
}

// recordVersion is the first byte of a record.
const recordVersion = 1

// Fields of a record that are not zero, or not what follows from others: the bits of its mask.
const (
	hasBlacklisted = 1 << iota // no value
	hasLiar                    // no value
	hasURL                     // it is not spelled as the key is
	hasGroup                   // it is not that of the URL
	hasAdded                   // it is not Due
	hasPriority
	hasFormat
	hasMediaType
	hasPeriod
	hasFetches
	hasErrors
	hasChanges
	hasETag
	hasLastModified
	hasWhy
	hasHistory
	hasAccept
	endOfMask
)

func (u *URL) encode(b []byte) []byte {
	var mask uint64
	set := func(bit uint64, is bool) {
		if is {
			mask |= bit
		}
	}
	spelled := spell(u.Key)
	set(hasBlacklisted, u.Blacklisted)
	set(hasLiar, u.Liar)
	set(hasURL, u.URL != spelled)
	set(hasGroup, u.Group != groupIn(u.URL))
	set(hasAdded, ms(u.Added) != ms(u.Due))
	set(hasPriority, u.Priority != 0)
	set(hasFormat, u.Format != "")
	set(hasMediaType, u.MediaType != "")
	set(hasPeriod, u.Period/time.Second != 0)
	set(hasFetches, u.Fetches != 0)
	set(hasErrors, u.Errors != 0)
	set(hasChanges, u.Changes != 0)
	set(hasETag, u.ETag != "")
	set(hasLastModified, u.LastModified != "")
	set(hasWhy, u.Why != "")
	set(hasHistory, len(u.History) > 0)
	set(hasAccept, u.Accept != "")
	w := writer{binary.AppendUvarint(append(b, recordVersion), mask)}
	number := func(bit uint64, v int64) {
		if mask&bit != 0 {
			w.int(v)
		}
	}
	text := func(bit uint64, s string) {
		if mask&bit != 0 {
			w.str(s)
		}
	}
	if mask&hasURL != 0 {
		same := sharedEnd(u.URL, spelled)
		w.int(int64(same))
		w.str(u.URL[:len(u.URL)-same])
	}
	text(hasGroup, u.Group)
	number(hasAdded, ms(u.Due)-ms(u.Added))
	if mask&hasPriority != 0 {
		w.float(u.Priority)
	}
	text(hasFormat, u.Format)
	text(hasMediaType, u.MediaType)
	number(hasPeriod, int64(u.Period/time.Second))
	number(hasFetches, int64(u.Fetches))
	number(hasErrors, int64(u.Errors))
	number(hasChanges, int64(u.Changes))
	text(hasETag, u.ETag)
	text(hasLastModified, u.LastModified)
	text(hasWhy, u.Why)
	if mask&hasHistory != 0 {
		w.history(u.History, ms(u.Due))
	}
	text(hasAccept, u.Accept)
	return append(w.b, checksum(u.Key, ms(u.Due), w.b)...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the end of a record: records are so short that most garbage would be one. It also ties the
// record to its key and due time.
func checksum(key string, due int64, record []byte) []byte {
	sum := crc32.Update(crc32.Checksum(recordKey(due, key), castagnoli), castagnoli, record)
	return []byte{byte(sum), byte(sum >> 8)}
}

// history writes visits. The first time is written as the difference to at.
func (w *writer) history(all []schedule.Visit, at int64) {
	w.int(int64(len(all)))
	var modified int64
	for _, v := range all {
		w.int(ms(v.At) - at)
		at = ms(v.At)
		w.b = append(w.b, outcomeCode(v.Outcome)<<1|flag(v.Changed))
		w.int(ms(v.LastModified) - modified)
		modified = ms(v.LastModified)
	}
}

var errRecord = fmt.Errorf("%w of a URL", ErrDamaged)

// decode reads the record of the URL with u.Key, which is stored under the due time u.stored.
func (u *URL) decode(b []byte) error {
	if len(b) < 2 || b[0] != recordVersion {
		return errRecord
	}
	end := len(b) - 2
	if end < 2 || !bytes.Equal(b[end:], checksum(u.Key, u.stored, b[:end])) {
		return errRecord
	}
	r := reader{fields.Reader{B: b[1:end]}}
	mask := r.Uvarint()
	if mask >= endOfMask {
		return errRecord
	}
	number := func(bit uint64) (v int64) {
		if mask&bit != 0 {
			v = r.Varint()
		}
		return v
	}
	text := func(bit uint64) (s string) {
		if mask&bit != 0 {
			s = r.Text()
		}
		return s
	}
	u.Blacklisted, u.Liar = mask&hasBlacklisted != 0, mask&hasLiar != 0
	u.URL = spell(u.Key)
	if mask&hasURL != 0 {
		same, start := r.Varint(), r.Text()
		if same < 0 || same > int64(len(u.URL)) {
			return errRecord
		}
		u.URL = start + u.URL[len(u.URL)-int(same):]
	}
	if u.Group = text(hasGroup); mask&hasGroup == 0 {
		u.Group = groupIn(u.URL)
	}
	u.Due = fromMS(u.stored)
	u.Added = fromMS(u.stored - number(hasAdded))
	if mask&hasPriority != 0 {
		u.Priority = r.float()
	}
	u.Format, u.MediaType = text(hasFormat), text(hasMediaType)
	u.Period = time.Duration(number(hasPeriod)) * time.Second
	u.Fetches, u.Errors, u.Changes = int(number(hasFetches)), int(number(hasErrors)), int(number(hasChanges))
	u.ETag, u.LastModified, u.Why = text(hasETag), text(hasLastModified), text(hasWhy)
	u.History = []schedule.Visit{}
	if mask&hasHistory != 0 {
		u.History = r.history(u.stored)
	}
	u.Accept = text(hasAccept)
	if r.End() != nil {
		return errRecord
	}
	return nil
}

// history reads what writer.history writes.
func (r *reader) history(at int64) []schedule.Visit {
	n := r.count()
	all := make([]schedule.Visit, 0, n)
	var modified int64
	for ; n > 0; n-- {
		at += r.Varint()
		code := r.Byte()
		modified += r.Varint()
		all = append(all, schedule.Visit{At: fromMS(at), Outcome: outcomeOf(code >> 1), Changed: code&1 == 1,
			LastModified: fromMS(modified)})
	}
	return all
}

// outcomes are numbered by their index in records. No number may be given to another outcome.
var outcomes = []catalog.Outcome{"", catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.Blocked, catalog.RobotsDenied,
	catalog.RetryLater}

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
