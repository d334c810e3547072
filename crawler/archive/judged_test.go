package archive

import (
	"bufio"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// This file measures how well searches are ranked, on the corpus and the questions in testdata/judged: the mean nDCG of
// the first ten hits. A question is a line "question | dataset=grade ...", where the files of a dataset have its grade.

// judgedArchive returns an archive with the corpus, and the dataset of each URL.
func judgedArchive(t *testing.T) (*Archive, map[string]string) {
	t.Helper()
	a := newArchive(t)
	ids := map[string]string{}
	n := 0
	for _, block := range strings.Split(readJudged(t, "corpus.txt"), "\n\n") {
		var d struct{ id, portal, title, text, keywords, publisher, licence string }
		var files [][]string
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.TrimSpace(value)
			switch key {
			case "id":
				d.id = value
			case "portal":
				d.portal = value
			case "title":
				d.title = value
			case "text":
				d.text = value
			case "keywords":
				d.keywords = value
			case "publisher":
				d.publisher = value
			case "licence":
				d.licence = value
			case "file":
				files = append(files, strings.Split(value, "|"))
			}
		}
		if d.id == "" {
			continue
		}
		dataset := d.portal + "dataset/" + d.id
		graph, s := term.IRI(a.Mint().Graph(d.portal)), term.IRI(dataset)
		publisher := term.Blank("p" + d.id)
		quads := []term.Quad{{S: s, P: term.IRI("http://purl.org/dc/terms/description"), O: term.String(d.text), G: graph},
			{S: s, P: term.IRI("http://purl.org/dc/terms/title"), O: term.String(d.title), G: graph},
			{S: s, P: term.IRI("http://purl.org/dc/terms/publisher"), O: publisher, G: graph},
			{S: publisher, P: term.IRI("http://xmlns.com/foaf/0.1/name"), O: term.String(d.publisher), G: graph},
			{S: s, P: term.IRI("http://purl.org/dc/terms/license"), O: term.String(d.licence), G: graph}}
		for _, k := range strings.Split(d.keywords, ",") {
			quads = append(quads,
				term.Quad{S: s, P: term.IRI("http://www.w3.org/ns/dcat#keyword"), O: term.String(strings.TrimSpace(k)), G: graph})
		}
		var seeds []catalog.Seed
		for _, f := range files {
			for i := range f {
				f[i] = strings.TrimSpace(f[i])
			}
			address := d.portal + "download/" + url.PathEscape(f[0])
			ids[address] = d.id
			seeds = append(seeds,
				catalog.Seed{URL: address, Portal: d.portal, Dataset: dataset, DatasetTitle: d.title, Title: f[2], Format: f[1]})
		}
		if _, err := a.Register(t.Context(), day, Listing{Seeds: seeds, Quads: quads}, nil); err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if f[3] == "" {
				continue
			}
			columns := strings.Split(f[3], ";")
			table := strings.Join(append([]string{"i", "label"}, columns...), ",") + "\n"
			for row, v := range append(strings.Split(f[4], ";"), "x", "x") {
				table += fmt.Sprintf("%d,%s%s\n", row, v, strings.Repeat(",1", len(columns)))
			}
			n++
			visit(t, a, seeds[i].URL, table, day.Add(time.Duration(n*7919%1000)*time.Hour))
		}
	}
	indexTexts(t, a)
	return a, ids
}

func readJudged(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/judged/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

type judgedQuestion struct {
	text   string
	held   bool
	grades map[string]int // by dataset
}

func judgedQuestions(t *testing.T) (list []judgedQuestion) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(readJudged(t, "judged.txt")))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "|")
		q := judgedQuestion{grades: map[string]int{}}
		if strings.TrimSpace(parts[0]) == "held" {
			q.held, parts = true, parts[1:]
		}
		if len(parts) != 2 {
			t.Fatalf("line %q", line)
		}
		q.text = strings.TrimSpace(parts[0])
		for _, f := range strings.Fields(parts[1]) {
			id, grade, _ := strings.Cut(f, "=")
			n, err := strconv.Atoi(grade)
			if err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			q.grades[id] = n
		}
		list = append(list, q)
	}
	return list
}

// ndcg returns the normalised discounted cumulative gain of the grades of the first ten hits. all are the grades of all
// files.
func ndcg(hits, all []int) float64 {
	gain := func(grades []int) (sum float64) {
		for i, g := range grades[:min(10, len(grades))] {
			sum += (math.Pow(2, float64(g)) - 1) / math.Log2(float64(i)+2)
		}
		return sum
	}
	best := slices.Clone(all)
	slices.SortFunc(best, func(a, b int) int { return b - a })
	return gain(hits) / gain(best)
}

func judge(t *testing.T, a *Archive, ids map[string]string, q judgedQuestion) float64 {
	t.Helper()
	f := found(t, a, catalog.Search{Text: q.text, Limit: 10})
	var grades, all []int
	for _, r := range f.Resources {
		grades = append(grades, q.grades[ids[r.URL]])
	}
	for _, id := range ids {
		all = append(all, q.grades[id])
	}
	return ndcg(grades, all)
}

func TestTheFileOneMeansIsAmongTheFirst(t *testing.T) {
	t.Parallel()
	a, ids := judgedArchive(t)
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	sums, n := map[bool]float64{}, map[bool]int{}
	for _, q := range judgedQuestions(t) {
		for id := range q.grades {
			if !known[id] {
				t.Errorf("%s: there is no dataset %s", q.text, id)
			}
		}
		one := judge(t, a, ids, q)
		sums[q.held] += one
		n[q.held]++
		if one < 0.9 {
			t.Logf("%.2f %s", one, q.text)
		}
	}
	all := (sums[true] + sums[false]) / float64(n[true]+n[false])
	t.Logf("nDCG@10 %.3f of %d questions, %.3f of the %d that were held out", all, n[true]+n[false], sums[true]/float64(n[true]), n[true])
	if n[true] != 15 || n[true]+n[false] != 50 {
		t.Errorf("%d questions, %d held out; want 50 and 15", n[true]+n[false], n[true])
	}
	if all < leastNDCG {
		t.Errorf("nDCG@10 is %.3f, want at least %.2f", all, leastNDCG)
	}
}
