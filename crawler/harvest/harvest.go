// Package harvest brings what portals list into the archive: one Harvester per kind of source, one Run for all of them.
//
// A Harvester reads a source from some point on and hands over what it finds in the order it finds it: portals, their
// datasets, further seeds (URLs to crawl) and statements, and marks. A mark says: all that came before may be kept, and a
// later run may begin from here. Run describes what it is given as DCAT (Dataset.Quads), gathers what lies between two
// marks and keeps it in one transaction together with the mark, so a harvest that is cut off anywhere goes on where it was
// and repeats nothing that matters. Seeds are due at once; what a portal says is seen by queries when the portal has come
// to its end, all of it or nothing (package ledger). A harvest that ends with an error leaves what was good: the datasets
// it brought are listed, none is withdrawn, and the next harvest goes on from the last mark.
//
// Harvesters fetch only through the Doer they are given, which is the crawler's: one User-Agent, one politeness, one
// guard against private addresses. They never write to the store themselves.
package harvest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// Harvester reads one source. from is the mark to go on from, "" for the beginning. An error ends the harvest; what came
// before it is kept, and the next harvest goes on from the last mark.
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
	// Unknown is a dataset that the source lists and fails to give, and why, in one sentence: it stays as it was, listed or
	// not. Where it cannot be told which one it is, it may be any that the harvest does not bring, and none of these is
	// withdrawn, but those that the harvest before brought beside the same: dataset is then no IRI but words that are the
	// same for the same entry, or "" where there are none. See ledger for when such an entry is no longer waited for.
	Unknown(dataset, why string) error
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
	// NotModified ends a harvest in which the source turned out to be what it was at the last one, which gave that token.
	NotModified(token string)
	// Skip counts and remembers something of the source that cannot be used, in one sentence.
	Skip(why string)
}

// Doer sends a request and gives its answer; *http.Client is one. After a 429 or 503 it is the Doer that makes the host's next
// request wait, whoever asks, for as long as the host wants (politeness.Transport): nobody above it waits a second time.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Keeper keeps what was gathered: the archive, the frontier and the ledger behind one interface.
type Keeper interface {
	// Begin a harvest, or go on with the one of the same source that was cut off, unless fresh forgets that. It gives the
	// mark to go on from, "" where there is none.
	Begin(ctx context.Context, r Report, fresh bool) (mark string, err error)
	// Open a portal before anything is kept of it. It is an ErrTaken where a source of another kind has kept all of it, or
	// this one is about to keep all of what another one has kept a part of; unless take: then it is this one's.
	Open(ctx context.Context, r Report, portal string, whole, take bool) error
	// Keep one step, all of it or nothing. It returns how many URLs were new.
	Keep(ctx context.Context, step Step) (added int, err error)
	// Commit makes what was kept of a portal visible, as one change. With whole, the rest of the portal is withdrawn.
	Commit(ctx context.Context, r Report, portal string, whole bool) (Changes, error)
	// End records what came of the harvest. Where it is done, the next one begins from next; else from the last mark.
	End(ctx context.Context, r Report, done bool, next string) error
}

// Step is what came between two marks, of one portal.
type Step struct {
	Source  string
	Portal  string // "" before any portal
	Seeds   []catalog.Seed
	Entries []Entry     // of the portal
	Quads   []term.Quad // outside of any portal, in the graphs they name
	Mark    string      // to go on from
}

// Entry is what a portal says of one thing, without graphs.
type Entry struct {
	Dataset   string   // IRI; "" for a further subject
	Subject   term.Key // of all statements, where Dataset is ""
	Resources []string // ids of the dataset's resources
	Gone      bool     // the source says that the dataset was deleted
	Kept      bool     // whatever it says now, it stays as it was; without a Dataset, so does what the harvest does not bring
	Fault     string   // of one that is Kept without a Dataset: the same for the same, "" where that cannot be told
	Quads     []term.Quad
}

// Changes of a portal by one commit, in datasets.
type Changes struct {
	Inserted, Updated, Unchanged, Withdrawn, Returned int
}

// Options of one Run.
type Options struct {
	Limit    int                                // stop after so many listings (datasets, or seeds), 0 = all
	Fresh    bool                               // begin anew, whatever mark is there
	Progress func(Report)                       // called after each step; may be nil
	Part     Selection                          // only a part of the source
	Step     int                                // seeds that are kept at once at the most, 0 = 500
	Meter    func() (requests int, bytes int64) // so far, for the report; may be nil
	Clock    func() time.Time                   // nil for the system's
	Kind     string                             // for the report
	Address  string                             // for the report
}

// ErrTaken is in the error of a portal that is harvested by another kind of source already: what the one brings, the other
// would withdraw. A Harvester of many portals passes it over.
var ErrTaken = errors.New("is kept already")

// errLimit ends a harvest that has brought as much as was asked for.
var errLimit = errors.New("limit reached")

// Run harvests a source to its end, its limit or its first error; the report tells what was kept in every case.
func Run(ctx context.Context, source string, h Harvester, k Keeper, opts Options) (Report, error) {
	if opts.Step <= 0 {
		opts.Step = 500
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	s := &step{ctx: ctx, keeper: k, opts: opts, report: Report{Source: source, Kind: opts.Kind, Address: opts.Address, Started: opts.Clock()}}
	s.report.ID = activityID(source, s.report.Started)
	from, err := k.Begin(ctx, s.report, opts.Fresh)
	if err != nil {
		return s.report, fmt.Errorf("harvest %s: %w", source, err)
	}
	s.mark = from
	err = h.Harvest(ctx, from, s)
	done := err == nil
	if errors.Is(err, errLimit) {
		s.report.Limited, err = true, nil
	}
	if s.broken == nil && ctx.Err() == nil {
		err = errors.Join(err, s.endPortal(done && s.whole))
	}
	if m, ok := h.(Metered); ok {
		s.report.Traffic = m.Counted()
	}
	s.traffic()
	s.report.Ended = opts.Clock()
	done = done && err == nil
	if err != nil {
		s.report.Error = address.Redact(strings.Join(strings.Fields(err.Error()), " ")) // one sentence, also where several things went wrong
	}
	if endErr := k.End(context.WithoutCancel(ctx), s.report, done, s.next); err == nil && endErr != nil {
		err = endErr
	}
	if err != nil {
		return s.report, fmt.Errorf("harvest %s: %w", source, err)
	}
	return s.report, nil
}
