package ui

import (
	"slices"
	"strings"
)

// diffLine is a line of a comparison.
type diffLine struct {
	Kind string // "same", "added", "removed", "gap"
	Old  int    // line number in the old version, or 0
	New  int
	Text string
}

const (
	diffContext = 3    // lines shown around a change
	diffShown   = 2000 // most lines shown
	diffEffort  = 1200 // most edits searched for; beyond that, all remaining lines count as replaced
)

// diffLines compares two texts by line: first the common beginning and end, then the shortest edit script of the middle
// (Myers 1986), within diffEffort.
func diffLines(a, b []string) (out []diffLine, added, removed int) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all := make([]diffLine, 0, 2*diffContext+16)
	oldLine, newLine := 0, 0
	emit := func(kind, text string) {
		line := diffLine{Kind: kind, Text: strings.TrimRight(text, "\r\n")}
		if kind != "added" {
			oldLine++
			line.Old = oldLine
		}
		if kind != "removed" {
			newLine++
			line.New = newLine
		}
		all = append(all, line)
	}
	for _, s := range a[:head] {
		emit("same", s)
	}
	for _, e := range edits(a[head:len(a)-tail], b[head:len(b)-tail]) {
		switch e.kind {
		case "added":
			added++
		case "removed":
			removed++
		}
		emit(e.kind, e.text)
	}
	for _, s := range a[len(a)-tail:] {
		emit("same", s)
	}
	return fold(all), added, removed
}

// fold replaces lines that are far from every change by gaps.
func fold(all []diffLine) []diffLine {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Kind == "same" {
			continue
		}
		for j := max(0, i-diffContext); j < min(len(all), i+diffContext+1); j++ {
			near[j] = true
		}
	}
	var out []diffLine
	for i, l := range all {
		if near[i] {
			if len(out) == diffShown {
				return append(out, diffLine{Kind: "gap", Text: "more changes are not shown"})
			}
			out = append(out, l)
		} else if i == 0 || near[i-1] {
			out = append(out, diffLine{Kind: "gap"})
		}
	}
	return out
}

type edit struct{ kind, text string }

// edits runs Myers' greedy algorithm with a limit on the number of edits. It keeps the frontier of each step to find
// the path back, so memory grows with the square of the edits: about 6 MB at the limit.
func edits(a, b []string) []edit {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return replace(a, b)
	}
	limit := min(n+m, diffEffort)
	v := make([]int32, 2*limit+3)
	var steps [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			i := k + limit + 1
			var x int32
			if k == -d || (k != d && v[i-1] < v[i+1]) {
				x = v[i+1]
			} else {
				x = v[i-1] + 1
			}
			for int(x) < n && int(x)-k < m && a[x] == b[int(x)-k] {
				x++
			}
			v[i] = x
			if int(x) >= n && int(x)-k >= m {
				steps = append(steps, clone(v, limit, d))
				return walkBack(a, b, steps)
			}
		}
		steps = append(steps, clone(v, limit, d))
	}
	return replace(a, b)
}

// clone copies the diagonals -d-1 to d+1 of a frontier.
func clone(v []int32, limit, d int) []int32 {
	return slices.Clone(v[max(0, limit-d):min(len(v), limit+d+3)])
}

func walkBack(a, b []string, steps [][]int32) []edit {
	var back []edit
	x, y := len(a), len(b)
	for d := len(steps) - 1; d > 0; d-- {
		before := steps[d-1] // diagonals -(d-1)-1 .. (d-1)+1, index k + d
		at := func(k int) int {
			if i := k + d; i >= 0 && i < len(before) {
				return int(before[i])
			}
			return -1
		}
		k := x - y
		var from int
		if k == -d || (k != d && at(k-1) < at(k+1)) {
			from = k + 1
		} else {
			from = k - 1
		}
		px := at(from)
		py := px - from
		for x > px && y > py {
			x--
			y--
			back = append(back, edit{"same", a[x]})
		}
		if from == k+1 {
			y--
			back = append(back, edit{"added", b[y]})
		} else {
			x--
			back = append(back, edit{"removed", a[x]})
		}
	}
	for x > 0 && y > 0 {
		x--
		y--
		back = append(back, edit{"same", a[x]})
	}
	slices.Reverse(back)
	return back
}

func replace(a, b []string) []edit {
	out := make([]edit, 0, len(a)+len(b))
	for _, s := range a {
		out = append(out, edit{"removed", s})
	}
	for _, s := range b {
		out = append(out, edit{"added", s})
	}
	return out
}
