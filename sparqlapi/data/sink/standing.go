package sink

import (
	"cmp"
	"strconv"
	"strings"
)

// standing is how far a SPARQL target has got, as its state graph says.
type standing struct {
	known bool // the state graph has a standing
	at    Position
	phase int
}

// Phases of a standing.
const (
	complete = 0  // the target has all changes up to the position
	emptying = -1 // graphs are being emptied, before everything is written anew
	loading  = 1  // everything is being written; the number of requests so far is added to this
)

const (
	loadingWord  = " loading "
	emptyingWord = " emptying"
)

// text returns the form of a standing in the state graph.
func (s standing) text() string {
	switch {
	case s.phase == emptying:
		return s.at.String() + emptyingWord
	case s.phase >= loading:
		return s.at.String() + loadingWord + strconv.Itoa(s.phase-loading)
	}
	return s.at.String()
}

// parseStanding parses the result of text.
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

// before reports whether s promises less of a target than other does.
func (s standing) before(other standing) bool {
	if (s.phase == complete) != (other.phase == complete) {
		return s.phase != complete
	}
	return cmp.Or(cmp.Compare(s.phase, other.phase), cmp.Compare(s.at.N, other.at.N)) < 0
}
