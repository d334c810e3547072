package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// report prints what go test would have printed, and keeps what is told at the end.
type report struct {
	out     io.Writer
	said    map[string]*bytes.Buffer // by package and test, until the test passed
	skipped map[string]int           // by reason
	plainly map[string][]string      // by package, tests that skipped themselves under the race detector
	took    map[string]float64       // by package, in seconds
}

func newReport(out io.Writer) *report {
	return &report{out: out, said: map[string]*bytes.Buffer{}, skipped: map[string]int{}, plainly: map[string][]string{},
		took: map[string]float64{}}
}

// read reads the events of one run. race says that the race detector is on.
func (r *report) read(events io.Reader, race bool) {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) == nil {
			r.take(e, race)
		} else if strings.TrimSpace(line) != "" {
			fmt.Fprint(r.out, line)
		}
		if err != nil {
			return
		}
	}
}

func (r *report) take(e event, race bool) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if r.said[key] == nil {
			r.said[key] = &bytes.Buffer{}
		}
		r.said[key].WriteString(e.Output)
	case "pass", "skip", "fail":
		switch {
		case e.Test == "":
			r.closePackage(e)
		case e.Action == "skip":
			r.skip(e, r.said[key].String(), race)
			delete(r.said, key)
		case e.Action == "pass":
			r.partly(r.said[key].String())
			delete(r.said, key)
		}
	}
}

// closePackage prints the line of a package, after what its failed tests said.
func (r *report) closePackage(e event) {
	r.took[e.Package] += e.Elapsed
	var keys []string
	for key := range r.said {
		if strings.HasPrefix(key, e.Package+" ") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys) // the package's own output is first
	if len(keys) > 0 && keys[0] == e.Package+" " {
		keys = append(keys[1:], keys[0])
	}
	for _, key := range keys {
		text := r.said[key].String()
		delete(r.said, key)
		for line := range strings.Lines(text) {
			own := strings.HasSuffix(key, " ")
			if noise.MatchString(line) || own && line == "PASS\n" || own && e.Action == "skip" {
				continue
			}
			fmt.Fprint(r.out, line)
		}
	}
}

var (
	noise  = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- PASS:)`)
	reason = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)
)

// withoutRaceOnly is how the reason of a test begins that would take too long under the race detector.
const withoutRaceOnly = "only without the race detector"

func (r *report) skip(e event, said string, race bool) {
	why := "for no reason"
	if found := reason.FindAllStringSubmatch(said, -1); found != nil {
		why = found[len(found)-1][1]
	}
	if race && strings.HasPrefix(why, withoutRaceOnly) {
		r.plainly[e.Package] = append(r.plainly[e.Package], e.Test)
	}
	if !strings.HasPrefix(why, "only ") {
		r.skipped[why]++
	}
}

// partly takes down what a test that passed left out: it logs a line that begins with "left out: ".
func (r *report) partly(said string) {
	for _, line := range reason.FindAllStringSubmatch(said, -1) {
		if why, ok := strings.CutPrefix(line[1], "left out: "); ok {
			r.skipped[why]++
		}
	}
}

// again is what to run without the race detector.
type again struct {
	pkg   string
	tests []string
}

func (a again) pattern() string { return "^(" + strings.Join(a.tests, "|") + ")$" }

func (r *report) onlyWithoutRace() []again {
	var all []again
	for pkg, tests := range r.plainly {
		all = append(all, again{pkg: pkg, tests: tests})
	}
	slices.SortFunc(all, func(a, b again) int { return cmp.Compare(a.pkg, b.pkg) })
	return all
}

// close prints the n slowest packages, and what was left out.
func (r *report) close(n int) {
	if n > 0 {
		var names []string
		for name, seconds := range r.took {
			if seconds > 0 {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(r.took[b], r.took[a]), cmp.Compare(a, b)) })
		fmt.Fprintln(r.out, "\nthe slowest packages, in seconds:")
		for _, name := range names[:min(n, len(names))] {
			fmt.Fprintf(r.out, "%8.1f  %s\n", r.took[name], name)
		}
	}
	if len(r.skipped) == 0 {
		return
	}
	var parts []string
	for why, count := range r.skipped {
		part := why
		if count > 1 {
			part = fmt.Sprintf("%s (%d tests)", why, count)
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	fmt.Fprintf(r.out, "left out: %s\n", strings.Join(parts, "; "))
}
