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

// figure is one statistic: a query, and how its answer is drawn. The first variable names a line, the second counts.
type figure struct {
	ID, Title, About string
	Kind             string // "bars", "columns", "quantiles"
	Size             bool   // the figures are bytes
	Query            string
}

// figureList holds the tables of the ODArchive paper's findings, each asked of this archive's own triples.
var figureList = []figure{
	{ID: "types", Title: "File types", About: "Versions by detected media type.", Kind: "bars",
		Query: "SELECT ?type (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type .\n}\nGROUP BY ?type\nORDER BY DESC(?versions)\nLIMIT 20"},
	{ID: "bytes", Title: "Bytes by type", About: "What the versions of each type weigh together.", Kind: "bars", Size: true,
		Query: "SELECT ?type (SUM(?size) AS ?bytes) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type ; dcat:byteSize ?size .\n}\nGROUP BY ?type\nORDER BY DESC(?bytes)\nLIMIT 20"},
	{ID: "sizes", Title: "Sizes by quantile", About: "From the smallest version to the largest; half of all versions are smaller than the middle.", Kind: "quantiles", Size: true,
		Query: "SELECT ?size WHERE {\n  ?version dcat:byteSize ?size .\n}\nLIMIT 200000"},
	{ID: "days", Title: "Versions by day", About: "New versions archived on each day.", Kind: "columns",
		Query: "SELECT ?day (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:issued ?issued .\n  BIND (SUBSTR(STR(?issued), 1, 10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
	{ID: "changes", Title: "Changes by day", About: "Versions that differed from one before them, on each day.", Kind: "columns",
		Query: "SELECT ?day (COUNT(?version) AS ?changes) WHERE {\n  ?version prov:wasRevisionOf ?before ; dct:issued ?issued .\n  BIND (SUBSTR(STR(?issued), 1, 10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
	{ID: "versions", Title: "Versions per resource", About: "How many resources have one version, two, three and so on.", Kind: "columns",
		Query: "SELECT ?versions (COUNT(?resource) AS ?resources) WHERE {\n  { SELECT ?resource (COUNT(?version) AS ?versions) WHERE { ?resource dct:hasVersion ?version } GROUP BY ?resource }\n}\nGROUP BY ?versions\nORDER BY ?versions\nLIMIT 100"},
	{ID: "portals", Title: "Resources per portal", About: "Distributions that each portal lists.", Kind: "bars",
		Query: "SELECT ?portal (COUNT(DISTINCT ?resource) AS ?resources) WHERE {\n  ?resource a dcat:Distribution ; arc:hasPortal ?portal .\n}\nGROUP BY ?portal\nORDER BY DESC(?resources)\nLIMIT 25"},
	{ID: "hosts", Title: "Resources per host", About: "Where the files come from.", Kind: "bars",
		Query: "SELECT ?host (COUNT(?resource) AS ?resources) WHERE {\n  ?resource arc:host ?host .\n}\nGROUP BY ?host\nORDER BY DESC(?resources)\nLIMIT 25"},
	{ID: "outcomes", Title: "Outcomes of fetches", About: "What came of every fetch so far.", Kind: "bars",
		Query: "SELECT ?outcome (COUNT(?fetch) AS ?fetches) WHERE {\n  ?fetch arc:outcome ?outcome .\n}\nGROUP BY ?outcome\nORDER BY DESC(?fetches)"},
	{ID: "errors", Title: "Why there was no version", About: "Error classes of fetches that gave nothing to keep.", Kind: "bars",
		Query: "SELECT ?class (COUNT(?fetch) AS ?fetches) WHERE {\n  ?fetch arc:errorClass ?class .\n}\nGROUP BY ?class\nORDER BY DESC(?fetches)"},
	{ID: "rows", Title: "Rows of tables by quantile", About: "From the shortest table to the longest.", Kind: "quantiles",
		Query: "SELECT ?rows WHERE {\n  ?table arc:rows ?rows .\n}\nLIMIT 200000"},
	{ID: "columns", Title: "Columns of tables", About: "How many tables have one column, two, three and so on.", Kind: "columns",
		Query: "SELECT ?columns (COUNT(?table) AS ?tables) WHERE {\n  ?table arc:columns ?columns .\n}\nGROUP BY ?columns\nORDER BY ?columns\nLIMIT 60"},
	{ID: "delimiters", Title: "Delimiters of tables", About: "How the columns of CSV versions are separated.", Kind: "bars",
		Query: "SELECT ?delimiter (COUNT(?table) AS ?tables) WHERE {\n  ?table csvw:dialect ?dialect .\n  ?dialect csvw:delimiter ?delimiter .\n}\nGROUP BY ?delimiter\nORDER BY DESC(?tables)"},
	{ID: "encodings", Title: "Encodings of tables", About: "Character encodings detected in CSV versions.", Kind: "bars",
		Query: "SELECT ?encoding (COUNT(?table) AS ?tables) WHERE {\n  ?table csvw:dialect ?dialect .\n  ?dialect csvw:encoding ?encoding .\n}\nGROUP BY ?encoding\nORDER BY DESC(?tables)"},
	{ID: "datatypes", Title: "Datatypes of columns", About: "What the columns of CSV versions hold.", Kind: "bars",
		Query: "SELECT ?datatype (COUNT(?column) AS ?columns) WHERE {\n  ?column csvw:datatype ?datatype .\n}\nGROUP BY ?datatype\nORDER BY DESC(?columns)\nLIMIT 20"},
}

const (
	figureTime  = 30 * time.Second // for one query
	figureFresh = time.Minute      // an answer is shown this long, and thirty times as long as it took, before it is asked again
	figureWait  = 2 * time.Second  // how long a page waits for figures that were never counted
)

// drawn is a figure with its answer.
type drawn struct {
	figure
	Plot  template.HTML
	Lines []drawnLine
	Total string
	Empty bool
	// Pending says that it was never counted yet.
	Pending bool
	Error   string // one sentence where the query did not end in time
	Most    float64
}

type drawnLine struct {
	Label, Full, Text string
	Value             float64
}

// figures keeps the last answers. They are asked for in the background when a reader finds them old, so that a page never
// waits for a count it can show as it was a moment ago.
type figures struct {
	ask  Select
	ctx  context.Context // of the work in the background; ended by close
	stop context.CancelFunc
	work sync.WaitGroup

	mu    sync.Mutex // guards the rest
	drawn []drawn
	at    time.Time     // when the last count ended
	took  time.Duration // it
	done  chan struct{} // closed when the count under way ends; nil where none is
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

// close ends the work in the background and waits for it.
func (f *figures) close() {
	f.stop()
	f.work.Wait()
}

// all gives the last answers, and sees to new ones. Only where nothing was ever counted it waits, not for long.
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

// count asks for every figure, two at a time; each is shown as soon as it is there.
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
	group.Wait() // no figure gives an error: it is shown in its place
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
		d.Most = max(d.Most, v)
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

// percentiles gives the 0th to the 100th, by the nearest rank.
func percentiles(values []float64) []float64 {
	slices.Sort(values)
	out := make([]float64, 101)
	for p := range out {
		out[p] = values[int(math.Round(float64(p)/100*float64(len(values)-1)))]
	}
	return out
}
