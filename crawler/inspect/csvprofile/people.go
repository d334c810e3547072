package csvprofile

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed givennames.txt
var givenNameList string

var givenNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsFuncSeq(givenNameList, func(r rune) bool { return r == '\n' || r == ',' }) {
		names[name] = true
	}
	return names
})

// IsGivenName reports whether s is a common given name in Europe, the Americas or the larger languages of Asia and
// Africa. Of "Hans-Peter" the first part decides.
func IsGivenName(s string) bool {
	if numbered(s) {
		return false
	}
	s, _, _ = strings.Cut(strings.ToLower(s), "-")
	return givenNames()[s]
}

// IsHonorific reports whether s is a title that stands before a name.
func IsHonorific(s string) bool {
	switch strings.TrimRight(strings.ToLower(s), ".") {
	case "mr", "mrs", "ms", "miss", "dr", "prof", "sir", "dame", "lord", "lady", "rev", "hon", "rep", "sen", "judge", "justice", "herr",
		"frau", "mag", "dipl", "ing", "di",
		"dipl-ing", "mme", "mlle", "m", "sr", "sra", "don", "dott", "dott.ssa", "sig", "baroness", "baron", "viscount", "earl":
		return true
	}
	return false
}
