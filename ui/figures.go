package ui

import (
	"context"
	"fmt"
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
	figureTime  = 3 * time.Second // for one query
	figureFresh = time.Minute     // an answer is shown this long before it is asked again
)

// drawn is a figure with its answer.
type drawn struct {
	figure
	Plot  template.HTML
	Lines []drawnLine
	Total string
	Empty bool
	Error string // one sentence where the query did not end in time
	Most  float64
}

type drawnLine struct {
	Label, Full, Text string
	Value             float64
}

// figures keeps the last answers, so that a page many look at asks the store once a minute.
type figures struct {
	ask Select

	mu    sync.Mutex // guards drawn, at; held while asking, so that only one reader asks
	drawn []drawn
	at    time.Time
}

func newFigures(ask Select) *figures { return &figures{ask: ask} }

func (f *figures) all(ctx context.Context, now time.Time) ([]drawn, error) {
	if f.ask == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drawn != nil && now.Sub(f.at) < figureFresh && now.Sub(f.at) >= 0 {
		return f.drawn, nil
	}
	list := make([]drawn, len(figureList))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, fig := range figureList {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, figureTime)
			defer cancel()
			fig.Query = withPrefixes(fig.Query)
			rows, err := f.ask(limited, fig.Query, 200_000)
			list[i] = draw(fig, rows)
			if err != nil {
				list[i].Error = "This query did not end within " + humanSpan(figureTime) + "; run it in the console to wait longer."
				if limited.Err() == nil {
					list[i].Error = "This query failed: " + err.Error()
				}
			}
			return ctx.Err() // the reader went away: stop asking
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("ui: statistics: %w", err)
	}
	f.drawn, f.at = list, now
	return list, nil
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
