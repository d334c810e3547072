package csvprofile

import (
	"slices"
	"strings"
)

// Limits of the notes of a profile: their number, and the length of each in characters.
const (
	maxNotes = 10
	maxNote  = 300
)

// note adds the words of a row that is not part of the table to its notes, unless they are there already.
func (p *Profile) note(cells []string) {
	if len(p.Notes) >= maxNotes {
		return
	}
	var said []string
	for _, c := range cells {
		if c = strings.Join(strings.Fields(c), " "); c != "" && !slices.Contains(said, c) { // a merged cell is in several columns
			said = append(said, c)
		}
	}
	s := strings.Join(said, " ")
	if prefix := p.Dialect.CommentPrefix; prefix != "" {
		s = strings.TrimSpace(strings.TrimLeft(s, prefix))
	}
	if s = cut([]byte(s), maxNote); strings.Trim(s, " -_=*#.,;:|") != "" && !slices.Contains(p.Notes, s) {
		p.Notes = append(p.Notes, s)
	}
}
