package warc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Segments collects the places of segmented records (WARC 1.1 §7): a record whose block was too long for one file, cut
// into a first segment and continuation records. Segments are looked for in one file only. The zero value is ready.
type Segments struct {
	firsts []segment // number is 1
	others map[string][]segment
	n      int
	faults []Fault
}

// segment is one record of a series.
type segment struct {
	offset int64
	id     string // of the first segment
	number int
	length int64 // of the block
	total  int64 // of the blocks of the series, as the record states it; -1 if it does not
	cut    string
}

// Series is what a file has of a segmented record.
type Series struct {
	Places []int64 // of the continuation records that follow the first segment without a gap, in order
	Whole  bool    // nothing is missing
	Length int64   // bytes of the blocks of the first segment and of those at Places
	// Truncated is WARC-Truncated of the first of them that has it, "" if none does.
	Truncated string
}

// maxSegmentRecords bounds the segments that are remembered, about 100 bytes each.
const maxSegmentRecords = 1 << 20

// IsSegment reports whether a record is part of a segmented one.
func IsSegment(rec *Record) bool {
	return rec.Type == Continuation || rec.Header.Get("WARC-Segment-Number") != ""
}

// Add adds a record whose block is complete. It does nothing with records that are no segments.
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
	one := segment{offset: rec.Offset, id: strings.Clone(rec.ID()), number: number, length: rec.ContentLength, total: -1, cut: strings.Clone(rec.Header.Get("WARC-Truncated"))}
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

// Join returns the series of the file by the offset of their first segment, and what is wrong with them, in the order
// of the file. It must be called once, after the last Add.
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
			return series // nobody knows which one is right
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
