package main

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
)

// day0 is the beginning of the simulation, a Monday.
var day0 = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// historySize is how many visits of a URL the frontier remembers.
const historySize = 48

type simulation struct {
	name    string        // of the schedule
	rule    schedule.Rule // used as in a crawl; nil to use planner
	out     *bufio.Writer
	limits  schedule.Limits
	planner *schedule.Planner
	urls    []url
	perDay  float64 // budget of fetches
}

type url struct {
	declared time.Duration
	history  []schedule.Visit
	belief   *schedule.Belief
	price    time.Duration // at the last decision
}

// line executes one line of the protocol.
func (s *simulation) line(text string) error {
	f := strings.Split(text, ",")
	num := make([]float64, len(f))
	for i, x := range f[1:] {
		v, err := strconv.ParseFloat(x, 64)
		if err != nil {
			return fmt.Errorf("line %q: %w", text, err)
		}
		num[i+1] = v
	}
	want := map[string]int{"INIT": 7, "URL": 4, "READY": 1, "FETCH": 6, "TICK": 2}[f[0]]
	if want == 0 || len(f) != want {
		return fmt.Errorf("line %q is not part of the protocol", text)
	}
	if f[0] == "FETCH" || f[0] == "URL" {
		if id := num[1]; id < 0 || int(id) >= len(s.urls) {
			return fmt.Errorf("line %q: no such URL", text)
		}
	}
	switch f[0] {
	case "INIT":
		s.urls = make([]url, int(num[1]))
		s.perDay = num[3]
		s.limits = schedule.Limits{Min: span(num[4]), Max: span(num[5])}
		s.planner = schedule.NewPlanner(s.limits)
		switch s.name {
		case "paper":
			s.rule = schedule.PaperRule(s.limits)
		case "serve":
			round := span(num[1] / num[3] * 24 * 3600)
			s.rule = schedule.NewAdaptiveRule(schedule.AdaptiveOptions{Limits: s.limits, Round: round})
		}
		return nil
	case "URL":
		if num[3] > 0 {
			s.urls[int(num[1])].declared = span(num[3])
		}
		return nil
	case "READY":
		for id := range s.urls {
			s.writeNext(id, 0, 1e12)
		}
	case "FETCH":
		s.fetch(int(num[1]), num[2], int(num[3]), int(num[4]), num[5])
	case "TICK":
		s.tick(num[1])
	}
	fmt.Fprintln(s.out, "END")
	return s.out.Flush()
}

func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func at(seconds float64) time.Time { return day0.Add(span(seconds)) }

// writeNext writes a line NEXT.
func (s *simulation) writeNext(id int, due, priority float64) {
	fmt.Fprintf(s.out, "NEXT,%d,%v,%v\n", id, due, priority)
}

// fetch adds a visit to the history of a URL and schedules the next one.
func (s *simulation) fetch(id int, now float64, status, changed int, modified float64) {
	v := schedule.Visit{At: at(now), Outcome: catalog.Unchanged, Changed: changed == 1}
	switch {
	case status == 404:
		v.Outcome = catalog.NoVersion
	case changed < 0:
		v.Outcome = catalog.RetryLater
	case changed == 1:
		v.Outcome = catalog.Archived
	}
	if modified >= 0 {
		v.LastModified = at(modified)
	}
	u := &s.urls[id]
	u.history = append(u.history, v)
	if extra := len(u.history) - historySize; extra > 0 {
		u.history = append(u.history[:0], u.history[extra:]...)
	}
	s.plan(id, at(now))
}

// plan schedules the next visit of a URL.
func (s *simulation) plan(id int, now time.Time) {
	u := &s.urls[id]
	if s.rule != nil {
		next, _ := s.rule.Next(strconv.Itoa(id), u.declared, u.history, now)
		due := next.Sub(day0).Seconds()
		s.writeNext(id, due, -due)
		return
	}
	d, b := s.planner.Decide(uint64(id), u.history, now, u.declared)
	u.belief = b
	s.writeDecision(id, d)
}

// writeDecision writes a decision of the planner.
func (s *simulation) writeDecision(id int, d schedule.Decision) {
	s.urls[id].price = s.planner.Hints(0).Price
	due := d.Next.Sub(day0).Seconds()
	s.writeNext(id, due, d.Value.Seconds()-due)
}

// tick makes a new plan, once a day, and schedules again the URLs whose price has changed: URLs scheduled at different
// prices become due in clumps.
func (s *simulation) tick(now float64) {
	if rule, ok := s.rule.(*schedule.AdaptiveRule); ok {
		moved, _ := rule.Plan(at(now), s.each) // each returns no error
		for i := range s.urls {
			if moved && len(s.urls[i].history) > 0 {
				s.plan(i, at(now))
			}
		}
	}
	if s.rule != nil {
		return
	}
	s.planner.Replan(at(now), len(s.urls), s.perDay)
	price := s.planner.Hints(0).Price
	for i := range s.urls {
		u := &s.urls[i]
		if len(u.history) > 0 && math.Abs(math.Log(float64(price)/float64(u.price))) > 0.01 {
			s.writeDecision(i, s.planner.Again(uint64(i), u.belief, at(now)))
		}
	}
}

// each calls visit with all URLs.
func (s *simulation) each(visit func(schedule.Known)) error {
	for i, u := range s.urls {
		visit(schedule.Known{Key: strconv.Itoa(i), Declared: u.declared, History: u.history})
	}
	return nil
}
