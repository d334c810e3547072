package warc

import (
	"fmt"
	"strings"
	"testing"
)

// series adds segments, "NUMBER LENGTH [TOTAL]" each, and returns what is joined: the places (the index of a segment)
// behind the first one, "whole" if it is, and the faults.
func series(parts ...string) string {
	var s Segments
	for i, part := range parts {
		f := strings.Fields(part)
		rec := &Record{Type: Continuation, Offset: int64(i)}
		rec.Header.Add("WARC-Segment-Number", f[0])
		if f[0] == "1" {
			rec.Type = Response
			rec.Header.Add("WARC-Record-ID", "<urn:x:1>")
		} else {
			rec.Header.Add("WARC-Segment-Origin-ID", "<urn:x:1>")
		}
		fmt.Sscan(f[1], &rec.ContentLength)
		if len(f) > 2 {
			rec.Header.Add("WARC-Segment-Total-Length", f[2])
		}
		s.Add(rec)
	}
	joined, faults := s.Join()
	var text []string
	for _, one := range joined {
		text = append(text, fmt.Sprint(one.Places))
		if one.Whole {
			text = append(text, "whole")
		}
	}
	for i := range faults {
		text = append(text, faults[i].Error())
	}
	return strings.Join(text, "; ")
}

func TestSegmentsAreWholeOrHaveAFaultThatSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]string{
		"[2 1]; whole": {"1 10", "3 5 20", "2 5"},
		"[1]; offset 0: the last segment of the record is missing: segment 2 does not state WARC-Segment-Total-Length": {"1 10", "2 5"},
		"[]; offset 0: the last segment of the record is missing: segment 1 does not state WARC-Segment-Total-Length":  {"1 10"},
		"[]; offset 0: segment 2 of the record is missing":                                                             {"1 10", "3 5 20"},
		"[1]; offset 0: segment 3 of the record is missing": {"1 10", "2 5",
			"4 5 25"},
		"[1]; offset 0: the segments of the record have 15 bytes, WARC-Segment-Total-Length says 16": {"1 10", "2 5 16"},
		"[]; offset 2: segment 2 of <urn:x:1> is there twice": {"1 10", "2 5 15",
			"2 6 16"},
		"offset 0: the first segment of segment 2 is not in the file: <urn:x:1>": {"2 5 15"},
	} {
		if got := series(parts...); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", parts, got, want)
		}
	}
	if got, want := series("1 10", "2 5 -15", "x 5"),
		`[1]; offset 0: the last segment of the record is missing: segment 2 does not state WARC-Segment-Total-Length; offset 1: `+
			`WARC-Segment-Total-Length is "-15"; offset 2: WARC-Segment-Number is "x"`; got != want {
		t.Errorf("got %s", got)
	}
}
