package plot_test

import (
	"encoding/xml"
	"flag"
	"html/template"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"odarchive/ui/plot"
)

var update = flag.Bool("update", false, "rewrite testdata")

func plots() map[string]template.HTML {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }
	return map[string]template.HTML{
		"spark":     plot.Spark([]float64{3, 1, 4, 1, 5}, "Size"),
		"flat":      plot.Spark([]float64{2, 2, 2}, "Size"),
		"histogram": plot.Histogram([]int64{1, 0, 40, 7}, "Values"),
		"box":       plot.Box([7]float64{0, 1, 4, 5, 6, 9, 10}, "Values"),
		"share":     plot.Share(1, 3),
		"columns": plot.Columns([]plot.Column{{Label: "1 Nov", Value: 3, Title: "three"}, {Label: "2 Nov", Value: 0},
			{Label: "3 Nov", Value: 12}}, "Versions by day"),
		"quantiles": plot.Quantiles([]float64{0, 10, 1000, 1e6, 1e9}, func(f float64) string { return "x" }, "Sizes"),
		"timeline": plot.Timeline([]plot.Moment{{At: at(1), Size: 10, Title: `<"first">`, Href: "/a?b=1&c=2"},
			{At: at(9), Size: 20, Class: "bad"}}, "Versions"),
		"calendar": plot.Calendar(2026,
			[]plot.Day{{Date: at(1).AddDate(-1, 0, 0), Count: 1}, {Date: at(1), Count: 1, Title: `<"first">`, Href: "/a?b=1&c=2"},
				{Date: at(30).AddDate(0, 1, 1), Count: 9}}, "Versions"),
		"moment": plot.Timeline([]plot.Moment{{At: at(1)}}, "One version"),
	}
}

func TestPlotsAreWellFormedAndAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, svg := range plots() {
		dec := xml.NewDecoder(strings.NewReader(string(svg)))
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, svg)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("%s: attribute %s", name, a.Name.Local)
					}
				}
			}
		}
		file := "testdata/" + name + ".svg"
		if *update {
			if err := os.WriteFile(file, []byte(svg+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != string(svg)+"\n" {
			t.Errorf("%s: got\n%s\nwant\n%s%v", name, svg, want, err)
		}
	}
}

func TestPlotsOfNothingAreNothing(t *testing.T) {
	t.Parallel()
	for name, svg := range map[string]template.HTML{"spark": plot.Spark([]float64{1}, ""), "timeline": plot.Timeline(nil, ""),
		"columns": plot.Columns(nil, ""), "quantiles": plot.Quantiles(nil, nil, ""), "histogram": plot.Histogram(nil, "")} {
		if svg != "" {
			t.Errorf("%s: %s", name, svg)
		}
	}
	if svg := plot.Spark([]float64{math.NaN(), math.Inf(1), 2}, "odd"); strings.Contains(string(svg), "NaN") ||
		strings.Contains(string(svg), "Inf") {
		t.Errorf("%s", svg)
	}
}
