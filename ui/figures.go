package ui

import (
	"context"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/term"
	"odarchive/ui/plot"

	"golang.org/x/sync/errgroup"
)

const (
	figureRows  = 200_000          // of a result, as in the queries of quantiles
	figureTime  = 30 * time.Second // for one query
	figureFresh = time.Minute      // a result is used for this long, and for at least thirty times as long as it took
	figureWait  = 2 * time.Second  // how long a page waits for the first results
)

// drawn is a figure with its result.
type drawn struct {
	figure
	Plot  template.HTML
	Lines []drawnLine
	Total string
	Empty bool
	// Pending is set until the query has run once.
	Pending bool
	Error   string // one sentence, if the query failed or did not end in time
	Largest float64
}

// drawnLine is a line of a figure. Href leads to the files behind it, "" for none.
type drawnLine struct {
	Label, Full, Text, Href string
	Value                   float64
}

// figures caches the results. A reader who finds them old starts a new count in the background, and sees the old
// results.
type figures struct {
	ask  Select
	ctx  context.Context // of the background work; close cancels it
	stop context.CancelFunc
	work sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	drawn []drawn
	at    time.Time     // when the last count ended
	took  time.Duration // how long the last count took
	done  chan struct{} // closed when the running count ends; nil if none runs
}

func newFigures(ask Select) *figures {
	f := &figures{ask: ask}
	f.ctx, f.stop = context.WithCancel(context.Background())
	for _, fig := range figureList() {
		fig.Query = withPrefixes(fig.Query)
		f.drawn = append(f.drawn, drawn{figure: fig, Pending: true})
	}
	return f
}

// close stops the background work and waits for it.
func (f *figures) close() {
	f.stop()
	f.work.Wait()
}

// all returns the cached results, and starts a new count if they are old. Before the first count has ended it waits,
// for at most figureWait.
func (f *figures) all(ctx context.Context, now time.Time) []drawn {
	if f.ask == nil {
		return nil
	}
	f.mu.Lock()
	age := now.Sub(f.at)
	if f.done == nil && f.ctx.Err() == nil && (f.at.IsZero() || age < 0 || age >= max(figureFresh, 30*f.took)) {
		done := make(chan struct{})
		f.done = done
		f.work.Go(func() { f.count(now, done) })
	}
	first, done := f.at.IsZero(), f.done
	f.mu.Unlock()
	if first && done != nil {
		wait := time.NewTimer(figureWait)
		defer wait.Stop()
		select {
		case <-done:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.drawn)
}

// count computes every figure, two at a time, and shows each as soon as it is ready.
func (f *figures) count(now time.Time, done chan struct{}) {
	defer close(done)
	start := time.Now()
	var group errgroup.Group
	group.SetLimit(2)
	for i, fig := range figureList() {
		fig.Query = withPrefixes(fig.Query)
		group.Go(func() error {
			d := f.one(fig)
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.ctx.Err() == nil {
				f.drawn[i] = d
			}
			return nil
		})
	}
	group.Wait() // a figure that fails holds its own error
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.took, f.done = now, time.Since(start), nil
}

func (f *figures) one(fig figure) drawn {
	limited, cancel := context.WithTimeout(f.ctx, figureTime)
	defer cancel()
	rows, err := f.ask(limited, fig.Query, figureRows)
	d := draw(fig, rows)
	switch {
	case err == nil:
	case limited.Err() != nil:
		d.Error = "This query did not end within " + Span(figureTime) + "; run it in the console to wait longer."
	default:
		d.Error = "This query failed: " + err.Error()
	}
	return d
}

func draw(f figure, rows Rows) drawn {
	d := drawn{figure: f, Empty: len(rows.Rows) == 0}
	if len(rows.Rows) >= figureRows {
		d.About += " Of a part of them: " + humanCount(len(rows.Rows)) + "."
	}
	if d.Empty {
		return d
	}
	text := func(v float64) string { return humanCount(strconv.FormatFloat(v, 'f', -1, 64)) }
	if f.Mean {
		text = decimal
	}
	if f.Size {
		text = func(v float64) string { return humanBytes(int64(v)) }
	}
	if f.Kind == "quantiles" {
		values := make([]float64, 0, len(rows.Rows))
		for _, row := range rows.Rows {
			values = append(values, value(row[0]))
		}
		q := percentiles(values)
		d.Plot = plot.Quantiles(q, text, f.Title)
		for _, p := range []int{0, 10, 25, 50, 75, 90, 99, 100} {
			d.Lines = append(d.Lines, drawnLine{Label: strconv.Itoa(p) + " %", Text: text(q[p]), Value: q[p]})
		}
		return d
	}
	var cols []plot.Column
	total, sum := 0.0, 0.0
	for _, row := range rows.Rows {
		if len(row) < 2 {
			continue
		}
		v := value(row[1])
		if sum += v; f.Growing {
			v = sum
		}
		label := f.label(row)
		short := label
		if t, err := time.Parse(time.DateOnly, label); err == nil {
			short = t.Format("2 Jan")
		} else if t, err := time.Parse("2006-01", label); err == nil {
			short = t.Format("Jan 2006")
		}
		d.Lines = append(d.Lines, drawnLine{Label: label, Full: row[0].Value(), Text: text(v), Href: f.href(row[0]), Value: v})
		cols = append(cols, plot.Column{Label: short, Value: v, Title: label + ": " + text(v)})
		total += v
		d.Largest = max(d.Largest, v)
	}
	d.Total = text(total)
	if f.Kind == "columns" {
		d.Plot = plot.Columns(cols, f.Title)
	}
	return d
}

func value(k term.Key) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(k.Value()), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// percentiles returns the 0th to the 100th percentile, by nearest rank. It sorts values.
func percentiles(values []float64) []float64 {
	slices.Sort(values)
	out := make([]float64, 101)
	for p := range out {
		out[p] = values[int(math.Round(float64(p)/100*float64(len(values)-1)))]
	}
	return out
}
