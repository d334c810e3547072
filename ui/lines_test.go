package ui

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestTheLinesOfADifferenceAreTurnedPageByPage(t *testing.T) {
	t.Parallel()
	var all []diffLine
	for i := range 700 {
		all = append(all, diffLine{Kind: "added", New: i + 1, Text: strings.Repeat("é", 10)})
	}
	all = append(all, diffLine{Kind: "removed", Text: strings.Repeat("é", 20_000)}, diffLine{Kind: "added", New: 701})
	q, read := url.Values{"from": {"a"}, "to": {"b"}}, 0
	for pages := 1; ; pages++ {
		p := diffPage{Lines: slices.Clone(all)}
		p.turn(q)
		for _, line := range p.Lines {
			if len(line.Text) > maxLine+10 || !utf8.ValidString(line.Text) || line.New != all[read].New {
				t.Fatalf("line %d of the difference is %+.80v", read, line)
			}
			read++
		}
		if p.Turned != (pages > 1) || len(p.Lines) == 0 || len(p.Lines) > linesAtOnce {
			t.Fatalf("page %d has %d lines", pages, len(p.Lines))
		}
		if p.MoreLines == "" {
			break
		}
		next, err := url.Parse(p.MoreLines)
		if q = next.Query(); err != nil || next.Path != "/diff" || q.Get("from") != "a" || q.Get("to") != "b" {
			t.Fatalf("the next lines are at %s", p.MoreLines)
		}
	}
	if read != len(all) {
		t.Errorf("%d of %d lines can be reached", read, len(all))
	}
	for _, odd := range []string{"-5", "x", "99999999999999999999"} {
		p := diffPage{Lines: slices.Clone(all)}
		if p.turn(url.Values{"lines": {odd}}); odd != "99999999999999999999" && len(p.Lines) != linesAtOnce {
			t.Errorf("lines=%s shows %d lines", odd, len(p.Lines))
		}
	}
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
