// Package harvest brings what portals list into the archive. Each kind of source has a Harvester; Run runs any of them.
//
// A Harvester reads a source from some point on and passes what it finds to a Sink, in order: portals, their datasets,
// further seeds (URLs to crawl), statements, and marks. A mark means that everything before it may be kept and that a
// later run may start there. Run describes datasets as DCAT (Dataset.Quads) and keeps everything between two marks,
// together with the second mark, in one transaction. An interrupted harvest therefore continues where it ended.
//
// Seeds are due at once. What a portal says becomes visible to queries when the portal has been read to its end, all of
// it or nothing (package ledger). If a harvest fails, the datasets it brought are listed, none is withdrawn, and the
// next harvest starts at the last mark.
//
// A harvest of changes does not see what its portal has ceased to list. Run asks for the number of datasets (Counter),
// and for their names where one request brings them (Namer). It reads the portal whole if it lists another number than
// the Keeper knows, or no longer names what is known. If it names all that is known, nothing was removed. Otherwise the
// Report says that removals were not looked for.
//
// Harvesters send requests only through the Doer they are given, which is the crawler's: one User-Agent, one set of
// politeness rules, one guard against private addresses. They never write to the store.
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

// Harvester reads one source. from is the mark to continue from, "" for the beginning. After an error, what came before
// it is kept, and the next harvest continues from the last mark.
type Harvester interface {
	Harvest(ctx context.Context, from string, out Sink) error
}

// Counter is a Harvester that can ask, with one request, how many datasets its source lists now. ok is false if the
// source does not say, or lists others beside those that are harvested.
type Counter interface {
	Count(ctx context.Context) (n int, ok bool)
}

// Namer is a Counter that can also ask, with one request, for the IRIs of all datasets that its source lists now, and
// maybe of others. ok is false if the source does not say. A list that is shorter than Count is not believed.
type Namer interface {
	Counter
	Names(ctx context.Context) (datasets []string, ok bool)
}

// Sink receives what a Harvester finds. If a method returns an error, the Harvester must stop and return it.
//
// Portal begins a portal, and all following datasets belong to it. What a portal says is kept in a named graph of its
// own, which is replaced as a whole when the portal ends: at the next Portal or at the end of the harvest.
type Sink interface {
	// Portal begins a portal. If whole is true, every dataset of the portal follows, and those that do not are
	// withdrawn. Otherwise only the datasets that follow, and those passed to Gone, change.
	Portal(p Portal, whole bool) error
	// Dataset adds one dataset of the portal: its description, and a seed for each distribution that can be fetched.
	Dataset(Dataset) error
	// Gone reports that the source says that a dataset was deleted.
	Gone(dataset string) error
	// Unknown reports a dataset that the source lists but fails to return, and why, in one sentence. The dataset stays
	// as it was. If dataset is not an IRI, the dataset could be any that this harvest does not bring, and none of those
	// is withdrawn, except the ones that the previous harvest brought together with the same failure. dataset is then a
	// text that identifies the failing entry from one harvest to the next, or "". Package ledger says when it stops
	// waiting for such an entry.
	Unknown(dataset, why string) error
	// Seed adds one URL listed outside of any Dataset. Malformed URLs are counted as invalid and skipped.
	Seed(catalog.Seed) error
	// Quad adds a statement about the portal or something it lists. It is kept in the portal's graph or, before the
	// first Portal, in the graph it names.
	Quad(term.Quad) error
	// Mark ends a step. A later harvest may start from token.
	Mark(token string) error
	// Next sets the mark at which the next harvest starts if this one completes, such as the datestamp of an
	// incremental protocol. By default that is "".
	Next(token string)
	// NotModified reports that the source has not changed since the harvest that returned the token as its next mark.
	NotModified(token string)
	// Skip counts and reports something that cannot be used, in one sentence.
	Skip(why string)
}

// Short identifies, for Sink.Unknown, the failure of a source that lists n datasets less than it says.
func Short(n int) string { return fmt.Sprintf("%d less than it says", n) }

// missing returns how many datasets a failure concerns, and whether the source only counts them (Short).
func missing(failure string) (n int, counted bool) {
	if _, err := fmt.Sscanf(failure, "%d less than it says", &n); err != nil || n < 1 {
		return 1, false
	}
	return n, true
}

// Doer sends a request and returns its answer; *http.Client is one. After a status 429 or 503, the Doer delays the
// host's next request for as long as the host asks (politeness.Transport); its callers do not wait themselves.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Keeper keeps what a harvest finds: the archive, the frontier and the ledger behind one interface.
type Keeper interface {
	// Begin begins a harvest or, unless fresh is true, continues an interrupted one of the same source. It returns the
	// mark to continue from, "" for the beginning.
	Begin(ctx context.Context, r Report, fresh bool) (mark string, err error)
	// Open opens a portal before anything of it is kept. The error wraps ErrTaken if a source of another kind has kept
	// all of the portal, or if this source is about to keep all of a portal of which another one has kept a part. If
	// take is true, the portal changes its source instead.
	Open(ctx context.Context, r Report, portal string, whole, take bool) error
	// Listed returns the number of datasets that a portal can be expected to list, if a harvest of changes has brought
	// all of them: those that are kept, with those that this harvest brought and without those that it reported as
	// gone.
	Listed(ctx context.Context, r Report, portal string) (int, error)
	// Lacking returns how many datasets of a portal are not among names: those that are kept, without those that this
	// harvest brought or reported as gone. The figure is not known if the portal has other names for its datasets, or
	// if no more are lacking than were when all of the portal was read because of that (Ending.Names).
	Lacking(ctx context.Context, r Report, portal string, names []string) (catalog.Figure, error)
	// Keep keeps one step, all of it or nothing, and returns the number of new URLs.
	Keep(ctx context.Context, step Step) (added int, err error)
	// Commit makes what was kept of a portal visible, as one change. After a whole harvest, the rest of the portal is
	// withdrawn, or waits for an answer (package ledger, Question).
	Commit(ctx context.Context, r Report, portal string, e Ending) (Changes, error)
	// End records the outcome of the harvest. If done is true, the next harvest starts at next, else at the last mark.
	End(ctx context.Context, r Report, done bool, next string) error
}

// Step is what one portal says between two marks.
type Step struct {
	Source  string
	Portal  string // "" before the first portal
	Seeds   []catalog.Seed
	Entries []Entry     // what the portal says
	Quads   []term.Quad // outside any portal, in the graphs they name
	Mark    string      // to continue from
	Graphs  bool        // as Options.Graphs
}

// Entry is what a portal says about one thing. Its quads have no graph.
type Entry struct {
	Dataset   string   // IRI, "" if the entry is about another subject
	Subject   term.Key // of all statements, if Dataset is ""
	Resources []string // IDs of the dataset's resources
	Gone      bool     // the source says that the dataset was deleted
	Kept      bool     // the dataset stays as it was; without a Dataset, so does every one that the harvest does not bring
	Fault     string   // identifies an entry that is Kept without a Dataset, "" if nothing does
	Quads     []term.Quad
}

// Changes counts the datasets that one commit changed. Waiting are those that it, or an earlier one, would have
// withdrawn.
type Changes struct {
	Inserted, Updated, Unchanged, Withdrawn, Returned int
	Waiting                                           int `json:",omitempty"`
	// what was removed last cannot be told from what did not come
	Blind bool `json:",omitempty"`
}

// Ending says how the harvest of a portal ended.
type Ending struct {
	Whole bool           // every dataset of the portal was brought
	Sure  bool           // the others are withdrawn without asking, however many they are
	Total catalog.Figure // datasets that the portal says that it lists, if it was read whole because of that
	Names []string       // those that it names then, nil if it does not
	Short int            // datasets that came less than the portal says that it lists
	Named int            // number of those that it names, if it is Short; 0 if it does not name them
}

// Options configures a Run.
type Options struct {
	Limit    int          // maximum number of datasets, and of seeds; 0 means no limit
	Fresh    bool         // start from the beginning, ignoring any mark
	Progress func(Report) // called after each step, dataset and failure; may be nil
	// Total, if not nil, is called with the number of datasets that the source says that it lists, before all of it is
	// read.
	Total   func(datasets int)
	Part    Selection                          // part of the source to harvest
	Step    int                                // maximum number of seeds kept at once; 0 means 500
	Meter   func() (requests int, bytes int64) // returns the traffic so far, for the report; may be nil
	Clock   func() time.Time                   // nil means time.Now
	Kind    string                             // for the report
	Address string                             // for the report
	Sure    bool                               // withdraw without asking, however much a portal no longer lists
	Search  bool                               // it may be that there is nothing: no ErrNothing
	Asked   func() string                      // returns what was asked so far and what came, for ErrNothing; may be nil
	// make it a setting of the portals that the statements of their files are kept in named graphs
	Graphs bool
}

// ErrTaken is wrapped by the error for a portal that a source of another kind keeps already: each harvest would
// withdraw what the other brings. A Harvester of many portals skips such a portal.
var ErrTaken = errors.New("is kept already")

// errLimit ends a harvest that has reached its limit.
var errLimit = errors.New("limit reached")

// Run harvests a source until its end, the limit or the first error. The report says what was kept in each case.
func Run(ctx context.Context, source string, h Harvester, k Keeper, opts Options) (Report, error) {
	if opts.Step <= 0 {
		opts.Step = 500
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	s := &step{ctx: ctx, keeper: k, opts: opts,
		report: Report{Source: source, Kind: opts.Kind, Address: opts.Address, Started: opts.Clock()}}
	s.report.ID = activityID(source, s.report.Started)
	s.report.begin()
	from, err := k.Begin(ctx, s.report, opts.Fresh)
	if err != nil {
		return s.report, fmt.Errorf("harvest %s: %w", source, err)
	}
	_, s.found.before = ParseDocument(from) // which is read whole, from its beginning
	s.namer, _ = h.(Namer)
	s.mark, s.found.begun = from, from != "" && !s.found.before
	if counter, ok := h.(Counter); ok && from == "" && opts.Total != nil && opts.Limit == 0 && opts.Part.IsZero() {
		if total, ok := counter.Count(ctx); ok {
			opts.Total(total)
		}
	}
	err = s.read(h, from)
	done := err == nil
	if errors.Is(err, errLimit) {
		s.report.Limited, err = true, nil
	}
	if s.broken == nil && ctx.Err() == nil {
		err = errors.Join(err, s.endPortal(done && s.whole))
	}
	if err == nil {
		if err = s.nothing(); err != nil {
			err = errors.Join(err, s.keep("")) // the next harvest begins anew
		}
	}
	if err != nil {
		err = s.wayOn(err)
	}
	if m, ok := h.(Metered); ok {
		s.report.Traffic = m.Counted()
	}
	s.traffic()
	s.report.Ended = opts.Clock()
	done = done && err == nil
	if err != nil && !s.report.came() {
		s.report.forget()
	}
	if err != nil {
		s.report.Error = address.Redact(strings.Join(strings.Fields(err.Error()), " ")) // one sentence, even if several errors are joined
	}
	if endErr := k.End(context.WithoutCancel(ctx), s.report, done, s.next); err == nil && endErr != nil {
		err = endErr
	}
	if err != nil {
		return s.report, fmt.Errorf("harvest %s: %w", source, err)
	}
	return s.report, nil
}
