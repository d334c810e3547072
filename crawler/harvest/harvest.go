// Package harvest brings what portals list into the archive: one Harvester per kind of source, one Run for all of them.
//
// A Harvester reads a source from some point on and hands over what it finds in the order it finds it: seeds (URLs to
// crawl), quads (what the source says of itself) and marks. A mark says: all that came before may be kept, and a later
// run may begin from here. Run gathers what lies between two marks and keeps it in one transaction together with the
// mark, so a harvest that is cut off anywhere goes on where it was and repeats nothing that matters.
//
// Harvesters fetch only through the Doer they are given, which is the crawler's: one User-Agent, one politeness, one
// guard against private addresses. They never write to the store themselves.
package harvest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// Harvester reads one source. from is the mark to go on from, "" for the beginning. An error ends the harvest; what came
// before the last mark is kept.
type Harvester interface {
	Harvest(ctx context.Context, from string, out Sink) error
}

// Sink takes what a Harvester finds. Its errors end the harvest.
//
// A source speaks portal by portal: Portal begins one, and the datasets that follow are its. What a portal says is kept in
// its own named graph, which is replaced as a whole, at once, when the portal ends: with the next Portal or the harvest.
type Sink interface {
	// Portal begins a portal. With whole, every dataset of it will follow, and one that does not is withdrawn; without,
	// only those that follow, and those that are Gone, change.
	Portal(p Portal, whole bool) error
	// Dataset is one dataset of the portal: its description, and a seed for each distribution that can be fetched.
	Dataset(Dataset) error
	// Gone is a dataset of which the source says that it was deleted.
	Gone(dataset string) error
	// Seed is one URL that is listed outside of any Dataset. A URL that is none is counted as invalid and passed over.
	Seed(catalog.Seed) error
	// Quad is a further statement about the portal or what it lists; it is kept in the portal's graph, before any Portal in
	// the graph it names.
	Quad(term.Quad) error
	// Mark ends a step.
	Mark(token string) error
	// Next is where the next harvest begins once this one has reached its end (the datestamp of an incremental
	// protocol); without it, it begins anew with "".
	Next(token string)
	// Skip counts and remembers something of the source that cannot be used, in one sentence.
	Skip(why string)
}

// Doer sends a request and gives its answer; *http.Client is one.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Keeper keeps what was gathered: the archive and the frontier behind one function. All of it, or nothing.
type Keeper interface {
	// Keep takes the seeds and quads of one step, and the mark to go on from. It returns how many URLs were new.
	Keep(ctx context.Context, source string, seeds []catalog.Seed, quads []term.Quad, mark string) (added int, err error)
	// LastMark of a source, "" where it was never harvested or the last harvest reached its end.
	LastMark(ctx context.Context, source string) (string, error)
}

// Options of one Run.
type Options struct {
	Limit    int          // stop after so many seeds, 0 = all
	Fresh    bool         // begin anew, whatever mark is there
	Progress func(Report) // called after each step; may be nil
	Part     Selection    // only a part of the source
	Step     int          // seeds that are kept at once at the most, 0 = 500
}

// Report says what a harvest brought.
type Report struct {
	Source  string        `json:"source"`
	Seeds   int           `json:"seeds"`             // listings seen
	Added   int           `json:"added"`             // URLs that were not known before
	Quads   int           `json:"triples"`           // statements kept
	Invalid int           `json:"invalid"`           // listings that cannot be crawled
	Skipped []string      `json:"skipped,omitempty"` // the first of the sentences that say why
	Traffic *Traffic      `json:"traffic,omitempty"` // where the harvester counts it
	Took    time.Duration `json:"-"`
	Error   string        `json:"error,omitempty"`
}

// errLimit ends a harvest that has brought as much as was asked for.
var errLimit = errors.New("limit reached")

// maxSkipped bounds how many sentences a report holds.
const maxSkipped = 20

// Run harvests a source to its end, its limit or its first error; the report tells what was kept in every case.
func Run(ctx context.Context, source string, h Harvester, k Keeper, opts Options) (Report, error) {
	if opts.Step <= 0 {
		opts.Step = 500
	}
	s := &step{ctx: ctx, keeper: k, opts: opts, report: Report{Source: source}}
	started := time.Now()
	from := ""
	if !opts.Fresh {
		var err error
		if from, err = k.LastMark(ctx, source); err != nil {
			return s.report, fmt.Errorf("harvest %s: %w", source, err)
		}
	}
	s.mark = from
	err := h.Harvest(ctx, from, s)
	switch {
	case err == nil:
		err = s.keep(s.next) // the end: the next harvest begins anew, or where the source said
	case errors.Is(err, errLimit):
		err = s.keep(s.mark)
	}
	s.report.Took = time.Since(started)
	if err != nil {
		s.report.Error = err.Error()
		return s.report, fmt.Errorf("harvest %s: %w", source, err)
	}
	return s.report, nil
}

// step is the Sink of a Run: it gathers until a mark.
type step struct {
	ctx    context.Context
	keeper Keeper
	opts   Options
	report Report
	seeds  []catalog.Seed
	quads  []term.Quad
	mark   string // of the last step that was kept
	next   string // mark of the next harvest
	portal Portal
}

func (s *step) Portal(p Portal, _ bool) error {
	s.portal = p
	return s.ctx.Err()
}

func (s *step) Dataset(d Dataset) error {
	for _, q := range d.Statements {
		if err := s.Quad(q); err != nil {
			return err
		}
	}
	for _, seed := range d.Seeds(s.portal) {
		if err := s.Seed(seed); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

func (s *step) Gone(string) error { return s.ctx.Err() }

func (s *step) Next(token string) { s.next = token }

func (s *step) Seed(seed catalog.Seed) error {
	if s.opts.Limit > 0 && s.report.Seeds >= s.opts.Limit {
		return errLimit
	}
	s.report.Seeds++
	if !crawlable(seed.URL) {
		s.report.Invalid++
		s.note(fmt.Sprintf("%q in dataset %s is no http, https or ftp address", seed.URL, seed.Dataset))
		return nil
	}
	s.seeds = append(s.seeds, seed)
	if len(s.seeds) >= s.opts.Step {
		return s.keep(s.mark)
	}
	return s.ctx.Err()
}

func crawlable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ftp")
}

func (s *step) Quad(q term.Quad) error {
	s.quads = append(s.quads, q)
	return s.ctx.Err()
}

func (s *step) Mark(token string) error { return s.keep(token) }

func (s *step) Skip(why string) {
	s.report.Invalid++
	s.note(why)
}

func (s *step) note(why string) {
	if len(s.report.Skipped) < maxSkipped {
		s.report.Skipped = append(s.report.Skipped, why)
	}
}

func (s *step) keep(mark string) error {
	added, err := s.keeper.Keep(s.ctx, s.report.Source, s.seeds, s.quads, mark)
	if err != nil {
		return err
	}
	s.report.Added += added
	s.report.Quads += len(s.quads)
	s.seeds, s.quads, s.mark = s.seeds[:0], s.quads[:0], mark
	if s.opts.Progress != nil {
		s.opts.Progress(s.report)
	}
	return s.ctx.Err()
}
