// Package sink keeps copies of the store's quads: in a SPARQL endpoint that accepts updates, in a folder of Turtle
// files, or in an HDT file.
//
// A Source is an archive: its quads, and the changes after a position of its log. A Target is a copy. Run brings a
// target up to date in rounds. The target stores the position that it has reached, never before the changes up to that
// position. If the sink or the target is killed, the next round starts at the stored position; applying a change twice
// does no harm.
package sink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// Position is a position in a log of changes. Positions of different logs cannot be compared.
type Position struct {
	Log string // identifies the log
	N   uint64
}

func (p Position) String() string { return p.Log + " " + strconv.FormatUint(p.N, 10) }

// parsePosition parses the result of String.
func parsePosition(s string) (p Position, ok bool) {
	log, n, found := strings.Cut(s, " ")
	v, err := strconv.ParseUint(n, 10, 64)
	return Position{log, v}, found && err == nil
}

// ErrGone means that the source's log does not reach back to a position, or that the position is one of another log.
var ErrGone = errors.New("the log of changes does not reach back to the position of the target")

// Source is an archive.
type Source interface {
	// Position returns the newest position.
	Position(ctx context.Context) (Position, error)
	// Quads returns the number of quads, which may be a little old.
	Quads(ctx context.Context) (int64, error)
	// Dump calls begin once with the position of a snapshot, and then f with each quad of the snapshot.
	Dump(ctx context.Context, begin func(Position) error, f func(term.Quad) error) error
	// Graphs calls f with the name of each named graph.
	Graphs(ctx context.Context, f func(term.Key) error) error
	// Graph calls f with each quad of the graph with a name, or of the default graph for "". The quads have no graph
	// name.
	Graph(ctx context.Context, g term.Key, f func(term.Quad) error) error
	// Changes calls f with the commits after a position, long ones in pieces, and returns the position of the last one.
	// If there is none, it waits for one up to the given time. The error wraps ErrGone if the log does not reach back.
	Changes(ctx context.Context, after Position, wait time.Duration, f func(triplestore.Commit) error) (Position, error)
}

// Target is a copy.
type Target interface {
	// Sync brings the copy up to date with a source. If the copy is up to date, it waits for a change up to the given
	// time.
	Sync(ctx context.Context, s Source, wait time.Duration) (Round, error)
}

// Round is the result of a Sync.
type Round struct {
	Position Position `json:"-"`                   // that the copy has reached
	Begun    bool     `json:"begunAnew,omitempty"` // everything was written, not only changes
	Added    int64    `json:"added"`               // quads
	Removed  int64    `json:"removed"`             // quads
	Files    int64    `json:"files,omitempty"`     // files written
}

// empty reports whether the round did nothing.
func (r Round) empty() bool { return !r.Begun && r.Added+r.Removed+r.Files == 0 }

// Options configure Run. Open, Report and Trouble are required.
type Options struct {
	Follow bool          // keep the target up to date until the context ends
	Every  time.Duration // with Follow, the pause after each round
	// Open opens the source. It is called for each round; close is called after it.
	Open    func(ctx context.Context) (s Source, close func() error, err error)
	Report  func(Round)                         // is called after each round that did something, and after the last
	Trouble func(err error, wait time.Duration) // is called with the error of a round that will be repeated after wait
}

// A round that failed because a program did not answer is repeated for about ten minutes, or without end with
// Options.Follow.
const (
	maxTries  = 14
	firstWait = time.Second
	maxWait   = time.Minute
	longPoll  = 30 * time.Second
)

// temporary marks errors after which the same request may succeed later.
type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// temporarily returns a temporary error, formatted like fmt.Errorf.
func temporarily(format string, args ...any) error { return temporary{fmt.Errorf(format, args...)} }

// progress marks the error of a round that wrote something before it failed. Run then counts its tries from the start.
type progress struct{ error }

func (p progress) Unwrap() error { return p.error }

// Run brings a target up to date. With Options.Follow it keeps the target up to date until ctx ends, and returns the
// cause.
func Run(ctx context.Context, t Target, o Options) error {
	tries, wait := 0, time.Duration(0)
	for {
		round, err := once(ctx, t, o, wait)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			tries = 0
			if !round.empty() || !o.Follow {
				o.Report(round)
			}
			if !o.Follow {
				return nil
			}
			wait = longPoll
			select {
			case <-time.After(o.Every):
			case <-ctx.Done():
			}
			continue
		}
		if _, further := errors.AsType[progress](err); further {
			tries = 0
		}
		if _, ok := errors.AsType[temporary](err); !ok {
			return err
		}
		if tries++; tries > maxTries && !o.Follow {
			return fmt.Errorf("given up after %d tries: %w", tries, err)
		}
		pause := backoff(firstWait, tries-1)
		o.Trouble(err, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// backoff returns how long to wait before another try. The time doubles with each try and is partly random, so that
// several sinks do not try at the same moment.
func backoff(first time.Duration, tries int) time.Duration {
	d := min(first<<min(tries, 20), maxWait)
	return d/2 + rand.N(d/2+1)
}

// once runs one round.
func once(ctx context.Context, t Target, o Options, wait time.Duration) (round Round, err error) {
	s, done, err := o.Open(ctx)
	if err != nil {
		return round, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return t.Sync(ctx, s, wait)
}
