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

// URL is what the frontier knows of one URL.
type URL struct {
	Key         string       // SURT
	Seed        catalog.Seed // the listings of all sources, merged; Seed.URL is the spelling that is fetched
	Sources     []catalog.Source
	Group       string
	Added       time.Time
	Due         time.Time // zero: not due again
	Priority    float64
	Blacklisted bool

	History      []schedule.Visit // the last Options.History visits
	Fetches      int              // all visits
	Errors       int              // visits in a row that gave no content
	Changes      int              // visits that found a change
	ETag         string
	LastModified string // as the server said
	Why          string // of the schedule
	Liar         bool   // the server has called other bytes the same: it is not asked "if modified" any more

	known  bool  // it has been stored before
	stored int64 // under which due time; notByTime: in format 1
}

// maxSources of one URL are kept.
const maxSources = 100

// merge takes over what another listing says and this one does not.
func (u *URL) merge(s catalog.Seed) (changed bool) {
	str := func(to *string, from string) {
		if *to == "" && from != "" {
			*to, changed = from, true
		}
	}
	str(&u.Seed.Title, s.Title)
	str(&u.Seed.Format, s.Format)
	str(&u.Seed.MediaType, s.MediaType)
	if u.Seed.Portal == "" && u.Seed.Dataset == "" {
		str(&u.Seed.Portal, s.Portal)
		str(&u.Seed.Dataset, s.Dataset)
		str(&u.Seed.DatasetTitle, s.DatasetTitle)
	}
	if s.Size > 0 && s.Size != u.Seed.Size {
		u.Seed.Size, changed = s.Size, true
	}
	if s.Period > 0 && s.Period != u.Seed.Period {
		u.Seed.Period, changed = s.Period, true
	}
	if s.Modified.After(u.Seed.Modified) {
		u.Seed.Modified, changed = s.Modified, true
	}
	if s.Depth < u.Seed.Depth {
		u.Seed.Depth, changed = s.Depth, true
	}
	source := catalog.Source{Portal: s.Portal, Dataset: s.Dataset, DatasetTitle: s.DatasetTitle}
	if source.Portal == "" && source.Dataset == "" {
		return changed
	}
	for i := range u.Sources {
		if old := &u.Sources[i]; old.Portal == source.Portal && old.Dataset == source.Dataset {
			str(&old.DatasetTitle, source.DatasetTitle)
			return changed
		}
	}
	if len(u.Sources) < maxSources {
		u.Sources, changed = append(u.Sources, source), true
	}
	return changed
}

// remember adds a visit and forgets the oldest ones beyond n.
func (u *URL) remember(v schedule.Visit, n int) {
	u.History = append(u.History, v)
	if extra := len(u.History) - n; extra > 0 {
		u.History = slices.Delete(u.History, 0, extra)
	}
}

// A record on disk: version, then fields in this order; numbers as varints, strings with their length.
const recordVersion = 1

func (u *URL) encode(b []byte) []byte {
	b = append(b, recordVersion, flag(u.Blacklisted)|flag(u.Liar)<<1)
	w := writer{b}
	w.str(u.Seed.URL)
	w.str(u.Group)
	w.int(ms(u.Added))
	w.int(ms(u.Due))
	w.float(u.Priority)
	w.str(u.Seed.Title)
	w.str(u.Seed.Format)
	w.str(u.Seed.MediaType)
	w.str(u.Seed.Portal)
	w.str(u.Seed.Dataset)
	w.str(u.Seed.DatasetTitle)
	w.int(u.Seed.Size)
	w.int(int64(u.Seed.Period / time.Second))
	w.int(ms(u.Seed.Modified))
	w.float(u.Seed.Priority)
	w.int(int64(u.Seed.Depth))
	w.int(int64(len(u.Sources)))
	for _, s := range u.Sources {
		w.str(s.Portal)
		w.str(s.Dataset)
		w.str(s.DatasetTitle)
	}
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
	if len(b) < 2 || b[0] != recordVersion {
		return errRecord
	}
	u.Blacklisted, u.Liar = b[1]&1 != 0, b[1]&2 != 0
	r := reader{fields.Reader{B: b[2:]}}
	u.Seed.URL = r.Text()
	u.Group = r.Text()
	u.Added = fromMS(r.Varint())
	u.Due = fromMS(r.Varint())
	u.Priority = r.float()
	u.Seed.Title = r.Text()
	u.Seed.Format = r.Text()
	u.Seed.MediaType = r.Text()
	u.Seed.Portal = r.Text()
	u.Seed.Dataset = r.Text()
	u.Seed.DatasetTitle = r.Text()
	u.Seed.Size = r.Varint()
	u.Seed.Period = time.Duration(r.Varint()) * time.Second
	u.Seed.Modified = fromMS(r.Varint())
	u.Seed.Priority = r.float()
	u.Seed.Depth = int(r.Varint())
	for n := r.count(); n > 0; n-- {
		u.Sources = append(u.Sources, catalog.Source{Portal: r.Text(), Dataset: r.Text(), DatasetTitle: r.Text()})
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

// Outcomes on disk; a number is never used again for something else.
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

// bits of a float, so that round numbers are short as varints.
func bits(v float64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
	return binary.BigEndian.Uint64(b[:])
}

// reader reads what writer wrote.
type reader struct{ fields.Reader }

func (r *reader) float() float64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], r.Uvarint())
	return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
}

// count of things that take at least a byte each; it was written as a signed number.
func (r *reader) count() int {
	n := r.Varint()
	if n < 0 || n > int64(len(r.B)) {
		r.Fail()
		return 0
	}
	return int(n)
}
