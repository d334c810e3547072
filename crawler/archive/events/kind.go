package events

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a set of kinds of changes.
type Kind uint16

// The kinds, by bit. A number is never reused.
const (
	New       Kind = 1 << iota // the first version of a file
	Rows                       // rows were added, removed or changed
	Schema                     // columns were added or removed, or changed their type
	Content                    // the bytes changed, and neither Rows nor Schema is known to apply
	Shrunk                     // the version has less than half of the bytes or rows of the one before
	Gone                       // the file can no longer be fetched, or no portal lists it any more
	Back                       // a file that was gone can be fetched, or is listed, again
	Licence                    // the portal declares another licence
	Past                       // the version was added later but is older than others in the archive
	Withdrawn                  // the bytes of a version were taken away
)

// Usual are the kinds that feeds and hooks select by default: all but Past.
const Usual = New | Rows | Schema | Content | Shrunk | Gone | Back | Licence | Withdrawn

var names = [...]string{"new", "rows", "schema", "content", "shrunk", "gone", "back", "licence", "past", "withdrawn"}

// Names returns the words for the kinds, in the order of their bits.
func (k Kind) Names() (list []string) {
	for i, name := range names {
		if k&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// ParseKinds parses words separated by commas. "all" stands for all kinds; without words, the result is Usual. The
// error about an unknown word lists the known ones.
func ParseKinds(words string) (k Kind, err error) {
	for word := range strings.SplitSeq(words, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		switch i := slices.Index(names[:], word); {
		case i >= 0:
			k |= 1 << i
		case word == "license":
			k |= Licence
		case word == "all":
			k |= 1<<len(names) - 1
		case word != "":
			return 0, fmt.Errorf("%q is not a kind of change: expected %s", word, strings.Join(names[:], ", "))
		}
	}
	if k == 0 {
		k = Usual
	}
	return k, nil
}
