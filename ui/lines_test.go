package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For any two texts, the edits must turn the old one into the new one, and keep what is common.
func TestEditsLeadFromTheOldTextToTheNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"})
		old, now := rapid.SliceOfN(line, 0, 40).Draw(t, "old"), rapid.SliceOfN(line, 0, 40).Draw(t, "now")
		var back, forth []string
		changes := 0
		for _, e := range edits(old, now) {
			if e.kind != "added" {
				back = append(back, e.text)
			}
			if e.kind != "removed" {
				forth = append(forth, e.text)
			}
			if e.kind != "same" {
				changes++
			}
		}
		if strings.Join(back, "") != strings.Join(old, "") || strings.Join(forth, "") != strings.Join(now, "") {
			t.Fatalf("edits of %q and %q give %q and %q", old, now, back, forth)
		}
		if want := len(old) + len(now) - 2*common(old, now); changes != want {
			t.Fatalf("%d changes from %q to %q, %d are enough", changes, old, now, want)
		}
	})
}

// common returns the length of the longest common subsequence, by dynamic programming.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestALargeDifferenceIsBounded(t *testing.T) {
	t.Parallel()
	var a, b []string
	for i := range 20_000 {
		a = append(a, strings.Repeat("a", i%97)+"\n")
		b = append(b, strings.Repeat("b", i%89)+"\n")
	}
	lines, added, removed := diffLines(a, b)
	if added == 0 || removed == 0 || len(lines) > diffShown+1 {
		t.Errorf("+%d -%d in %d lines", added, removed, len(lines))
	}
	if lines[len(lines)-1].Kind != "gap" {
		t.Error("the page does not say that more changed")
	}
}
