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

// figure is a statistic: a query, and how its answer is drawn. The first variable labels a line; the second is its
// value.
type figure struct {
	ID, Title, About string
	Kind             string // "bars", "columns", "quantiles"
	Size             bool   // the values are bytes
	Query            string
}

// figureList follows the tables in the ODArchive paper, each computed from this archive's own triples.
var figureList = []figure{
	{ID: "types", Title: "File types", About: "Versions by detected media type.", Kind: "bars",
		Query: "SELECT ?type (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type .\n}\nGROUP BY ?type\nORDER BY DESC(?versions)\nLIMIT 20"},
	{ID: "bytes", Title: "Bytes by type", About: "Total size of the versions of each type.", Kind: "bars", Size: true,
		Query: "SELECT ?type (SUM(?size) AS ?bytes) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type ; dcat:byteSize ?size .\n}\nGROUP BY ?type\nORDER BY DESC(?bytes)\nLIMIT 20"},
	{ID: "sizes", Title: "Sizes by quantile", About: "From the smallest version to the largest; half of all versions are smaller than the middle.", Kind: "quantiles", Size: true,
		Query: "SELECT ?size WHERE {\n  ?version dcat:byteSize ?size .\n}\nLIMIT 200000"},
	{ID: "days", Title: "Versions by day", About: "New versions archived on each day.", Kind: "columns",
		Query: "SELECT ?day (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:issued ?issued .\n  BIND (SUBSTR(STR(?issued), 1, 10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
	{ID: "changes", Title: "Changes by day", About: "Versions that differ from the one before, on each day.", Kind: "columns",
		Query: "SELECT ?day (COUNT(?version) AS ?changes) WHERE {\n  ?version prov:wasRevisionOf ?before ; dct:issued ?issued .\n  BIND (SUBSTR(STR(?issued), 1, 10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
	{ID: "versions", Title: "Versions per resource", About: "How many resources have one version, two, three and so on.", Kind: "columns",
		Query: "SELECT ?versions (COUNT(?resource) AS ?resources) WHERE {\n  { SELECT ?resource (COUNT(?version) AS ?versions) WHERE { ?resource dct:hasVersion ?version } GROUP BY ?resource }\n}\nGROUP BY ?versions\nORDER BY ?versions\nLIMIT 100"},
	{ID: "portals", Title: "Resources per portal", About: "Distributions that each portal lists.", Kind: "bars",
		Query: "SELECT ?portal (COUNT(DISTINCT ?resource) AS ?resources) WHERE {\n  ?resource a dcat:Distribution ; arc:hasPortal ?portal .\n}\nGROUP BY ?portal\nORDER BY DESC(?resources)\nLIMIT 25"},
	{ID: "hosts", Title: "Resources per host", About: "Where the files come from.", Kind: "bars",
		Query: "SELECT ?host (COUNT(?resource) AS ?resources) WHERE {\n  ?resource arc:host ?host .\n}\nGROUP BY ?host\nORDER BY DESC(?resources)\nLIMIT 25"},
	{ID: "outcomes", Title: "Outcomes of fetches", About: "Outcomes of all fetches.", Kind: "bars",
		Query: "SELECT ?outcome (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE {\n  ?fetch arc:outcome ?outcome .\n  OPTIONAL { ?fetch arc:visits ?visits }\n}\nGROUP BY ?outcome\nORDER BY DESC(?fetches)"},
	{ID: "errors", Title: "Why there was no version", About: "Error classes of fetches that kept nothing.", Kind: "bars",
		Query: "SELECT ?class (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE {\n  ?fetch arc:errorClass ?class .\n  OPTIONAL { ?fetch arc:visits ?visits }\n}\nGROUP BY ?class\nORDER BY DESC(?fetches)"},
	{ID: "rows", Title: "Rows of tables by quantile", About: "From the shortest table to the longest.", Kind: "quantiles",
		Query: "SELECT ?rows WHERE {\n  ?table arc:rows ?rows .\n}\nLIMIT 200000"},
	{ID: "columns", Title: "Columns of tables", About: "How many tables have one column, two, three and so on.", Kind: "columns",
		Query: "SELECT ?columns (COUNT(?table) AS ?tables) WHERE {\n  ?table arc:columns ?columns .\n}\nGROUP BY ?columns\nORDER BY ?columns\nLIMIT 60"},
	{ID: "delimiters", Title: "Delimiters of tables", About: "How the columns of CSV versions are separated.", Kind: "bars",
		Query: "SELECT ?delimiter (COUNT(?table) AS ?tables) WHERE {\n  ?table csvw:dialect ?dialect .\n  ?dialect csvw:delimiter ?delimiter .\n}\nGROUP BY ?delimiter\nORDER BY DESC(?tables)"},
	{ID: "encodings", Title: "Encodings of tables", About: "Character encodings detected in CSV versions.", Kind: "bars",
		Query: "SELECT ?encoding (COUNT(?table) AS ?tables) WHERE {\n  ?table csvw:dialect ?dialect .\n  ?dialect csvw:encoding ?encoding .\n}\nGROUP BY ?encoding\nORDER BY DESC(?tables)"},
	{ID: "datatypes", Title: "Datatypes of columns", About: "Datatypes that were detected in the columns of CSV versions.", Kind: "bars",
		Query: "SELECT ?datatype (COUNT(?column) AS ?columns) WHERE {\n  ?column csvw:datatype ?datatype .\n}\nGROUP BY ?datatype\nORDER BY DESC(?columns)\nLIMIT 20"},
}

const (
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

type drawnLine struct {
	Label, Full, Text string
	Value             float64
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
	for _, fig := range figureList {
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
	for i, fig := range figureList {
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
	rows, err := f.ask(limited, fig.Query, 200_000)
	d := draw(fig, rows)
	switch {
	case err == nil:
	case limited.Err() != nil:
		d.Error = "This query did not end within " + humanSpan(figureTime) + "; run it in the console to wait longer."
	default:
		d.Error = "This query failed: " + err.Error()
	}
	return d
}

func draw(f figure, rows Rows) drawn {
	d := drawn{figure: f, Empty: len(rows.Rows) == 0}
	if d.Empty {
		return d
	}
	text := func(v float64) string { return humanCount(strconv.FormatFloat(v, 'f', -1, 64)) }
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
	total := 0.0
	for _, row := range rows.Rows {
		if len(row) < 2 {
			continue
		}
		v := value(row[1])
		label := lineLabel(row[0])
		short := label
		if t, err := time.Parse(time.DateOnly, label); err == nil {
			short = t.Format("2 Jan")
		}
		d.Lines = append(d.Lines, drawnLine{Label: label, Full: row[0].Value(), Text: text(v), Value: v})
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

func lineLabel(k term.Key) string {
	switch v := k.Value(); v {
	case "\t":
		return "tab"
	case " ":
		return "space"
	case "":
		return "(none)"
	case ",":
		return "comma"
	case ";":
		return "semicolon"
	default:
		if k.Kind() == term.KindIRI {
			return curie(v, "")
		}
		return v
	}
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
