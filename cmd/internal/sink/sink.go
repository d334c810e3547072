// Package sink keeps copies of the store's quads somewhere else: in any SPARQL endpoint that takes updates, in a folder
// of Turtle files, or in an HDT file.
//
// A Source is the archive: its state, and every change after a position of its log. A Target says at which position it
// stands and is brought up to date in rounds. The position is kept in the target, and written no earlier than what it
// stands for, so a sink or a target that is killed goes on where it was: what is applied twice has the same effect.
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

// Position is a place in a log of changes. Positions of different logs cannot be compared.
type Position struct {
	Log string
	N   uint64
}

func (p Position) String() string { return p.Log + " " + strconv.FormatUint(p.N, 10) }

// parsePosition reads what String wrote.
func parsePosition(s string) (p Position, ok bool) {
	log, n, found := strings.Cut(s, " ")
	v, err := strconv.ParseUint(n, 10, 64)
	return Position{log, v}, found && err == nil
}

// ErrGone means that the source's log does not reach back to a position, or is another one.
var ErrGone = errors.New("the log of changes does not reach back to the position of the target")

// Source is an archive.
type Source interface {
	// Position returns the newest position.
	Position(ctx context.Context) (Position, error)
	// Dump calls begin with the position of a state, and f with each quad of it.
	Dump(ctx context.Context, begin func(Position) error, f func(term.Quad) error) error
	// Graphs calls f with the name of each named graph.
	Graphs(ctx context.Context, f func(term.Key) error) error
	// Graph calls f with each quad of a graph, "" for the default graph, with an empty name.
	Graph(ctx context.Context, g term.Key, f func(term.Quad) error) error
	// Changes calls f with each commit after a position, in pieces, and returns the position of the last. It waits so
	// long if there is none. The error wraps ErrGone if the log does not reach back.
	Changes(ctx context.Context, after Position, wait time.Duration, f func(triplestore.Commit) error) (Position, error)
}

// Target is a copy.
type Target interface {
	// Sync brings the copy to the newest state of a source, waiting so long for a first change.
	Sync(ctx context.Context, s Source, wait time.Duration) (Round, error)
}

// Round is what a Sync did.
type Round struct {
	Position Position `json:"-"`
	Begun    bool     `json:"begunAnew,omitempty"` // everything was written, not only changes
	Added    int64    `json:"added"`               // quads
	Removed  int64    `json:"removed"`
	Files    int64    `json:"files,omitempty"` // that were written
}

// Options configure Run.
type Options struct {
	Follow  bool                                                                // do not end when the target is up to date
	Every   time.Duration                                                       // when following, the pause between rounds that did something
	Open    func(ctx context.Context) (s Source, close func() error, err error) // opens the source, for each round
	Report  func(Round)                                                         // is called after each round that did something, and after the last
	Trouble func(err error, wait time.Duration)                                 // is called before a round is tried again
}

// How often a round is tried again that failed because something does not answer: for about ten minutes, or without
// end when following.
const (
	maxTries  = 14
	firstWait = time.Second
	maxWait   = time.Minute
	longPoll  = 30 * time.Second
)

// temporary marks an error that may go away.
type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

func temporarily(format string, args ...any) error { return temporary{fmt.Errorf(format, args...)} }

// progress marks the error of a round that got further than the one before it.
type progress struct{ error }

func (p progress) Unwrap() error { return p.error }

// Run brings a target up to date, and keeps it so with Options.Follow until ctx ends.
func Run(ctx context.Context, t Target, o Options) error {
	tries, wait := 0, time.Duration(0)
	for {
		round, err := once(ctx, t, o, wait)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			tries = 0
			if round.Begun || round.Added+round.Removed+round.Files > 0 || !o.Follow {
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

// backoff returns how long to wait before another try: twice as long each time, and not all sinks at the same moment.
func backoff(first time.Duration, tries int) time.Duration {
	d := min(first<<min(tries, 20), maxWait)
	return d/2 + rand.N(d/2+1)
}

func once(ctx context.Context, t Target, o Options, wait time.Duration) (round Round, err error) {
	s, done, err := o.Open(ctx)
	if err != nil {
		return round, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return t.Sync(ctx, s, wait)
}
