package diary

import (
	"encoding/binary"
	"errors"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"
)

// Stretch is one visit of a resource, or several that found the same, one after another.
type Stretch struct {
	Resource string // its id
	Visits   int    // at least 1

	start     int64 // of the first visit, in milliseconds since 1970
	firstTook int64 // milliseconds of the first visit; if some are forgotten, until the end of the last of those
	last      visit
	behind    bool    // the clock went back before it, so that earlier stretches may have later visits
	forgotten int     // visits after the first that are no longer kept one by one
	recent    []visit // the newest visits, oldest first, without the first; older ones have records of their own

	outcome  catalog.Outcome
	class    catalog.ErrorClass
	status   int
	version  int // number of the version plus 1, 0 for none
	why      string
	finalURL string
	tls      string
	robots   string
}

// visit is when a visit started, in milliseconds since 1970, and how many milliseconds it took.
type visit struct{ start, took int64 }

// begin returns the stretch that a visit begins.
func begin(resource string, act catalog.Activity) Stretch {
	start := act.Start.UnixMilli()
	s := Stretch{
		Resource: resource, Visits: 1, start: start, firstTook: act.End.UnixMilli() - start,
		outcome: act.Outcome, class: act.ErrorClass, status: act.Status, why: act.Why, finalURL: act.FinalURL, tls: act.TLS,
		robots: act.Robots,
	}
	s.last = visit{start, s.firstTook}
	if s.finalURL == act.URL {
		s.finalURL = ""
	}
	if _, n, ok := ns.SplitVersionID(act.Version); ok {
		s.version = n + 1
	}
	return s
}

// continues reports whether the visit that would begin another stretch found the same as this one. Explanations, and
// the queries and tokens of final URLs, may differ: they often hold times, ports or signatures. So may the status if
// the file is unchanged: whether the server says that (304) or sends the same bytes (200) depends on what it was asked.
// Those of the first visit stay.
func (s Stretch) continues(other Stretch) bool {
	return s.outcome != catalog.Archived && s.outcome == other.outcome && s.class == other.class &&
		(s.status == other.status || s.outcome == catalog.Unchanged) &&
		s.version == other.version && s.tls == other.tls && s.robots == other.robots && alikeURLs(s.finalURL, other.finalURL) &&
		other.start >= s.last.start
}

// Start returns the start of the first visit in milliseconds since 1970. With the resource, it identifies the stretch.
func (s Stretch) Start() int64 { return s.start }

// ID returns the id of the stretch's activity, which is that of its first visit.
func (s Stretch) ID() string { return ns.ActivityID(s.Resource, moment(s.start)) }

// Activity returns the stretch as one activity: from the start of its first visit to the end of its last.
func (s Stretch) Activity(url string) catalog.Activity {
	act := s.activity(url, visit{s.start, s.last.start + s.last.took - s.start})
	act.Visits = s.Visits
	return act
}

// activity returns one visit of the stretch. The first stands for those that are forgotten.
func (s Stretch) activity(url string, v visit) catalog.Activity {
	act := catalog.Activity{
		ID: s.ID(), URL: url, FinalURL: s.finalURL, Start: moment(v.start), End: moment(v.start + v.took),
		Outcome: s.outcome, ErrorClass: s.class, Status: s.status, Why: s.why, Version: versionID(s.Resource, s.version), TLS: s.tls,
		Robots: s.robots, Visits: 1,
	}
	if v.start == s.start {
		act.Visits += s.forgotten
	}
	return act
}

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// stretchFormat is the first byte of records, behindFormat that of a stretch before which the clock went back. A
// stretch with an exception from robots.txt has exceptional more.
const (
	stretchFormat = 2
	behindFormat  = 3
	exceptional   = 2
)

// encode returns the record that FORMAT.md describes.
func (s Stretch) encode() []byte {
	b := make([]byte, 1, 64+8*len(s.recent)+len(s.why)+len(s.finalURL)+len(s.tls))
	b[0] = stretchFormat
	if s.behind {
		b[0] = behindFormat
	}
	if s.robots != "" {
		b[0] += exceptional
		b = fields.AppendText(b, s.robots)
	}
	b = binary.AppendVarint(b, s.firstTook)
	b = binary.AppendUvarint(b, uint64(s.Visits))
	b = binary.AppendUvarint(b, uint64(s.forgotten))
	b = binary.AppendUvarint(b, uint64(s.last.start-s.start))
	b = binary.AppendVarint(b, s.last.took)
	b = fields.AppendText(b, string(s.outcome))
	b = fields.AppendText(b, string(s.class))
	b = binary.AppendUvarint(b, uint64(s.status))
	b = binary.AppendUvarint(b, uint64(s.version))
	for _, text := range [...]string{s.why, s.finalURL, s.tls} {
		b = fields.AppendText(b, text)
	}
	return appendVisits(b, s.start, s.recent)
}

// appendVisits appends visits, oldest first, as differences from a time.
func appendVisits(b []byte, from int64, visits []visit) []byte {
	for _, v := range visits {
		b = binary.AppendUvarint(b, uint64(v.start-from))
		b = binary.AppendVarint(b, v.took)
		from = v.start
	}
	return b
}

// readVisits reads what appendVisits wrote, to the end of the record.
func readVisits(r *fields.Reader, from int64) (visits []visit) {
	for len(r.B) > 0 && !r.Bad() {
		from += r.Max(maxSpan)
		visits = append(visits, visit{from, r.Varint()})
	}
	return visits
}

// Bounds of numbers in records; what exceeds them is damage.
const (
	maxSpan   = 1 << 48 // milliseconds
	maxNumber = 1 << 31
)

// decodeStretch reads a stretch from its key and record.
func decodeStretch(k, raw []byte) (s Stretch, err error) {
	if len(k) != stretchKeyLen {
		return s, badRecord(k)
	}
	s.Resource, s.start = string(k[1:1+records.IDLen]), timeAt(k[1+records.IDLen:])
	r := fields.Reader{B: raw}
	format := r.Byte()
	if format == stretchFormat+exceptional || format == behindFormat+exceptional {
		format -= exceptional
		s.robots = r.Text()
	}
	switch format {
	case behindFormat:
		s.behind = true
	case stretchFormat:
	default:
		return s, badRecord(k)
	}
	s.firstTook = r.Varint()
	s.Visits, s.forgotten = int(r.Max(maxNumber)), int(r.Max(maxNumber))
	s.last.start = s.start + r.Max(maxSpan)
	s.last.took = r.Varint()
	s.outcome, s.class = catalog.Outcome(r.Text()), catalog.ErrorClass(r.Text())
	s.status, s.version = int(r.Max(maxNumber)), int(r.Max(maxNumber))
	s.why, s.finalURL, s.tls = r.Text(), r.Text(), r.Text()
	if !r.Bad() {
		s.recent = readVisits(&r, s.start)
	}
	if r.End() != nil || s.Visits < 1 || s.forgotten+len(s.recent) >= s.Visits {
		return s, badRecord(k)
	}
	return s, nil
}

// encodeVisits returns the record of some visits of a stretch, whose key has the start of the first.
func encodeVisits(visits []visit) []byte {
	return appendVisits([]byte{stretchFormat}, visits[0].start, visits)
}

func decodeVisits(k, raw []byte) ([]visit, error) {
	r := fields.Reader{B: raw}
	if len(k) != visitsKeyLen || r.Byte() != stretchFormat {
		return nil, badRecord(k)
	}
	visits := readVisits(&r, timeAt(k[visitsKeyLen-8:]))
	if r.End() != nil || len(visits) == 0 {
		return nil, badRecord(k)
	}
	return visits, nil
}

func isBad(err error) bool {
	return errors.Is(err, records.ErrBadRecord) || errors.Is(err, records.ErrNotFound)
}
