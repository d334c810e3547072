// Finds what somebody meant who misspelt a name: of a command, a flag, a setting.

package catalog

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxWord   = 64 // bytes; longer words are not compared
	minPrefix = 3  // bytes of a name that stand for all of it, if they stand for no other
)

// Nearest returns the known name that is most like word, and "" if none is much like it. One edit in three letters is
// allowed: a letter more, less, changed, or two that are swapped. Upper case and underscores do not count. Of names
// that are equally near, the longest is returned, since letters are more often left out than added; a word that begins
// only one name means that name.
func Nearest(word string, known []string) string {
	word = fold(word)
	if word == "" || len(word) > maxWord {
		return ""
	}
	best, least, begun := "", maxWord, []string(nil)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(known))) {
		folded := fold(name)
		if len(folded) > maxWord {
			continue
		}
		if len(word) >= minPrefix && strings.HasPrefix(folded, word) {
			begun = append(begun, name)
		}
		if d := distance(word, folded); (d < least || d == least && len(name) > len(best)) && 3*d <= max(len(word), len(folded)) {
			best, least = name, d
		}
	}
	if best == "" && len(begun) == 1 {
		best = begun[0]
	}
	return best
}

// Hint returns the end of an error message that asks whether the nearest known name was meant, and "" if none is near.
func Hint(word string, known []string) string {
	if name := Nearest(word, known); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// distance returns the number of edits between two words, where swapping two neighbours is one edit, and no letter is
// edited twice (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			changed := 0
			if a[i] != b[j] {
				changed = 1
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
