package sink

import (
	"cmp"
	"strconv"
	"strings"
)

// standing is what a target says of itself.
type standing struct {
	known bool // a sink has written to it
	at    Position
	phase int // complete, emptying, or loading plus the number of requests
}

const (
	complete = 0
	emptying = -1
	loading  = 1
)

const (
	loadingWord  = " loading "
	emptyingWord = " emptying"
)

func (s standing) text() string {
	switch {
	case s.phase == emptying:
		return s.at.String() + emptyingWord
	case s.phase >= loading:
		return s.at.String() + loadingWord + strconv.Itoa(s.phase-loading)
	}
	return s.at.String()
}

// parseStanding reads what text wrote.
func parseStanding(text string) (s standing, ok bool) {
	s.known = true
	if rest, is := strings.CutSuffix(text, emptyingWord); is {
		text, s.phase = rest, emptying
	} else if rest, n, is := strings.Cut(text, loadingWord); is {
		requests, err := strconv.Atoi(n)
		if err != nil || requests < 0 {
			return s, false
		}
		text, s.phase = rest, loading+requests
	}
	s.at, ok = parsePosition(text)
	return s, ok
}

// before reports whether less is sure of a target that says s than of one that says other.
func (s standing) before(other standing) bool {
	if (s.phase == complete) != (other.phase == complete) {
		return s.phase != complete
	}
	return cmp.Or(cmp.Compare(s.phase, other.phase), cmp.Compare(s.at.N, other.at.N)) < 0
}
