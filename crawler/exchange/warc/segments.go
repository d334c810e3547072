package warc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Segments finds the segmented records of a file (WARC 1.1 §7). A segmented record is one whose block was divided into
// a first segment and continuation records. Segments in other files are not found. The zero value is ready to use.
type Segments struct {
	firsts []segment            // first segments
	others map[string][]segment // continuation records, by the id of the first segment
	n      int                  // segments added
	faults []Fault
}

// segment is one segment of a record.
type segment struct {
	offset int64
	id     string // record id of the first segment
	number int    // from 1
	length int64  // of the block
	total  int64  // of all blocks of the segmented record, as this segment states it; -1 if it does not
	cut    string // WARC-Truncated
}

// Series has the segments of a segmented record.
type Series struct {
	Places []int64 // offsets of the continuation records after the first segment, in order, up to the first missing one
	Whole  bool    // no segment is missing
	Length int64   // bytes of the blocks of the first segment and of those at Places
	// Truncated is WARC-Truncated of the first of these segments that has it, "" if none has.
	Truncated string
}

// maxSegmentRecords bounds the number of segments that are kept, of about 100 bytes each.
const maxSegmentRecords = 1 << 20

// IsSegment reports whether a record is a segment of a segmented record.
func IsSegment(rec *Record) bool {
	return rec.Type == Continuation || rec.Header.Get("WARC-Segment-Number") != ""
}

// Add adds a record whose block is complete. It ignores records that are not segments.
func (s *Segments) Add(rec *Record) {
	if !IsSegment(rec) {
		return
	}
	if s.n++; s.n > maxSegmentRecords {
		if s.n == maxSegmentRecords+1 {
			s.fault(rec.Offset, "the file has more than %d segments of records; from here on they are not joined", maxSegmentRecords)
		}
		return
	}
	stated := rec.Header.Get("WARC-Segment-Number")
	number, err := strconv.Atoi(stated)
	one := segment{offset: rec.Offset, id: strings.Clone(rec.ID()), number: number, length: rec.ContentLength, total: -1,
		cut: strings.Clone(rec.Header.Get("WARC-Truncated"))}
	if text := rec.Header.Get("WARC-Segment-Total-Length"); text != "" {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
			s.fault(rec.Offset, "WARC-Segment-Total-Length is %.30q", text)
		} else {
			one.total = n
		}
	}
	switch {
	case err != nil || number < 1:
		s.fault(rec.Offset, "WARC-Segment-Number is %.30q", stated)
	case rec.Type != Continuation && number > 1:
		s.fault(rec.Offset, "segment %d is a %.20q record instead of a continuation", number, rec.Type)
	case rec.Type != Continuation:
		s.firsts = append(s.firsts, one)
	case number == 1:
		s.fault(rec.Offset, "a continuation record has the segment number 1")
	default:
		if one.id = strings.Clone(rec.Header.Get("WARC-Segment-Origin-ID")); one.id == "" {
			s.fault(rec.Offset, "the continuation record has no WARC-Segment-Origin-ID")
			return
		}
		if s.others == nil {
			s.others = map[string][]segment{}
		}
		s.others[one.id] = append(s.others[one.id], one)
	}
}

func (s *Segments) fault(at int64, format string, args ...any) {
	s.faults = append(s.faults, Fault{Offset: at, Why: fmt.Sprintf(format, args...)})
}

// Join returns the segmented records by the offset of their first segment, and the faults of segments, in the order of
// the file. Call it once, after the last Add.
func (s *Segments) Join() (map[int64]Series, []Fault) {
	joined := make(map[int64]Series, len(s.firsts))
	for _, first := range s.firsts {
		joined[first.offset] = s.join(first)
		delete(s.others, first.id)
	}
	for id, list := range s.others {
		for _, one := range list {
			s.fault(one.offset, "the first segment of segment %d is not in the file: %.100s", one.number, id)
		}
	}
	slices.SortStableFunc(s.faults, func(a, b Fault) int { return cmp.Compare(a.Offset, b.Offset) })
	return joined, s.faults
}

// join returns the series of a first segment.
func (s *Segments) join(first segment) Series {
	rest := s.others[first.id]
	slices.SortStableFunc(rest, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	series, last := Series{Length: first.length}, first
	for i, one := range rest {
		if one.number != last.number+1 {
			s.fault(first.offset, "segment %d of the record is missing", last.number+1)
			return series
		}
		if i+1 < len(rest) && rest[i+1].number == one.number {
			s.fault(rest[i+1].offset, "segment %d of %.100s is there twice", one.number, first.id)
			return series // it is not known which one is right
		}
		series.Truncated = cmp.Or(series.Truncated, one.cut)
		series.Places, series.Length, last = append(series.Places, one.offset), series.Length+one.length, one
	}
	switch {
	case last.total < 0:
		s.fault(first.offset, "the last segment of the record is missing: segment %d does not state WARC-Segment-Total-Length", last.number)
	case last.total != series.Length:
		s.fault(first.offset, "the segments of the record have %d bytes, WARC-Segment-Total-Length says %d", series.Length, last.total)
	default:
		series.Whole = true
	}
	return series
}
