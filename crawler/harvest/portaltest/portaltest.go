// Package portaltest runs harvesters in tests. Requests go to a handler in the process, what a harvester finds is
// recorded as text, and a harvest can be interrupted anywhere. For tests only.
package portaltest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Web answers requests with a handler, without a network. It follows at most ten redirects.
type Web struct {
	Handler  http.Handler
	Requests atomic.Int64
}

// Do implements harvest.Doer.
func (w *Web) Do(req *http.Request) (*http.Response, error) {
	for range 10 {
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
		w.Requests.Add(1)
		recorder := httptest.NewRecorder()
		w.Handler.ServeHTTP(recorder, req)
		resp := recorder.Result()
		resp.Request = req
		next, err := resp.Location()
		if err != nil || resp.StatusCode/100 != 3 {
			return resp, nil
		}
		follow, err := http.NewRequestWithContext(req.Context(), http.MethodGet, next.String(), nil)
		if err != nil {
			return nil, err
		}
		follow.Header = req.Header
		req = follow
	}
	return nil, errors.New("too many redirects")
}

// ErrCut is the error of an interrupted harvest.
var ErrCut = errors.New("cut off")

// Notes is a Sink that records its input.
type Notes struct {
	Portals  []harvest.Portal
	Whole    bool // as passed with the last portal
	Datasets []harvest.Dataset
	GoneIRIs []string
	Unread   []string // datasets passed to Unknown, which may be ""
	Seeds    []catalog.Seed
	Quads    []term.Quad
	Marks    []string
	NextMark string
	Same     bool // NotModified was called
	Skipped  []string

	CutAfter int // number of Datasets after which the harvest is interrupted; 0 means never
	kept     int // number of datasets before the last mark
}

var _ harvest.Sink = (*Notes)(nil)

func (n *Notes) Portal(p harvest.Portal, whole bool) error {
	n.Portals, n.Whole = append(n.Portals, p), whole
	return nil
}

func (n *Notes) Dataset(d harvest.Dataset) error {
	if d.IRI == "" {
		return errors.New("a dataset without an IRI")
	}
	n.Datasets = append(n.Datasets, d)
	if n.CutAfter > 0 && len(n.Datasets) >= n.CutAfter {
		return ErrCut
	}
	return nil
}

func (n *Notes) Gone(iri string) error { n.GoneIRIs = append(n.GoneIRIs, iri); return nil }
func (n *Notes) Unknown(iri, why string) error {
	n.Unread, n.Skipped = append(n.Unread, iri), append(n.Skipped, why)
	return nil
}
func (n *Notes) Seed(s catalog.Seed) error { n.Seeds = append(n.Seeds, s); return nil }
func (n *Notes) Quad(q term.Quad) error    { n.Quads = append(n.Quads, q); return nil }
func (n *Notes) Mark(m string) error {
	n.Marks, n.kept = append(n.Marks, m), len(n.Datasets)
	return nil
}
func (n *Notes) Next(m string)        { n.NextMark = m }
func (n *Notes) NotModified(m string) { n.NextMark, n.Same = m, true }
func (n *Notes) Skip(why string)      { n.Skipped = append(n.Skipped, why) }

// LastMark returns the mark to continue from.
func (n *Notes) LastMark() string {
	if len(n.Marks) == 0 {
		return ""
	}
	return n.Marks[len(n.Marks)-1]
}

// IRIs returns the IRIs of the datasets in their order.
func (n *Notes) IRIs() []string {
	var iris []string
	for _, d := range n.Datasets {
		iris = append(iris, d.IRI)
	}
	return iris
}

// Harvest harvests from a mark on and returns the harvester's error.
func Harvest(t testing.TB, h harvest.Harvester, from string) (*Notes, error) {
	t.Helper()
	n := &Notes{}
	return n, h.Harvest(t.Context(), from, n)
}

// Resumes interrupts a harvest after each dataset, continues it from the last mark, and compares the datasets with
// those of an uninterrupted harvest.
func Resumes(t testing.TB, h harvest.Harvester) {
	t.Helper()
	whole, err := Harvest(t, h, "")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Compact(slices.Sorted(slices.Values(whole.IRIs())))
	for cut := 1; cut <= len(whole.Datasets); cut++ {
		first := &Notes{CutAfter: cut}
		if err := h.Harvest(context.Background(), "", first); !errors.Is(err, ErrCut) {
			t.Fatalf("cut off after %d: error %v", cut, err)
		}
		rest, err := Harvest(t, h, first.LastMark())
		if err != nil {
			t.Fatalf("resumed at %q: %v", first.LastMark(), err)
		}
		got := slices.Compact(slices.Sorted(slices.Values(append(first.IRIs()[:first.kept], rest.IRIs()...))))
		if !slices.Equal(got, want) {
			t.Fatalf("cut off after %d, resumed at %q: got\n%s\nwant\n%s", cut, first.LastMark(), strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		if cut > first.kept+1 && first.kept > 0 && len(rest.Datasets) >= len(whole.Datasets) {
			t.Fatalf("cut off after %d, resumed at %q: began anew", cut, first.LastMark())
		}
	}
}

// Counts tests what a harvester says of the number of datasets that its source lists; -1 means that it does not say.
func Counts(t testing.TB, h harvest.Harvester, want int) {
	t.Helper()
	if n, ok := h.(harvest.Counter).Count(t.Context()); ok != (want >= 0) || ok && n != want {
		t.Errorf("the source is said to list %d datasets (%v), want %d", n, ok, want)
	}
}

// Golden compares text with the file testdata/name, or rewrites that with -update.
func Golden(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (-update rewrites it): got\n%s", file, firstDifference(text, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d: %s\nwant     %s", i+1, g[i],
				cmp.Or(strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""), "nothing"))
		}
	}
	return "fewer lines than wanted"
}

// String returns everything recorded as text.
func (n *Notes) String() string {
	var b strings.Builder
	for _, p := range n.Portals {
		fields(&b, "portal", reflect.ValueOf(p), "")
	}
	for _, d := range n.Datasets {
		b.WriteByte('\n')
		fields(&b, "dataset", reflect.ValueOf(d), "")
	}
	for _, s := range n.Seeds {
		fmt.Fprintf(&b, "seed: %s\n", s.URL)
	}
	for _, q := range n.Quads {
		fmt.Fprintf(&b, "quad: %s %s %s\n", q.S.Value(), q.P.Value(), short(q.O.Value()))
	}
	for _, g := range n.GoneIRIs {
		fmt.Fprintf(&b, "gone: %s\n", g)
	}
	for _, s := range n.Skipped {
		fmt.Fprintf(&b, "skipped: %s\n", s)
	}
	return b.String()
}

// Yield returns a summary of each dataset: its IRI, the fields that are set, and their number of values.
func (n *Notes) Yield() string {
	var b strings.Builder
	services, distributions := 0, 0
	for _, d := range n.Datasets {
		for _, dist := range d.Distributions {
			distributions++
			if dist.Service {
				services++
			}
		}
	}
	fmt.Fprintf(&b, "%d datasets, %d distributions (%d services), %d seeds, %d statements, %d gone, %d skipped\n",
		len(n.Datasets), distributions, services, len(n.Seeds), len(n.Quads), len(n.GoneIRIs), len(n.Skipped))
	for _, d := range n.Datasets {
		fmt.Fprintf(&b, "  %s:%s\n", d.IRI, filled(reflect.ValueOf(d)))
		for _, dist := range d.Distributions {
			fmt.Fprintf(&b, "    %s:%s\n", short(dist.URL), filled(reflect.ValueOf(dist)))
		}
	}
	for _, why := range n.Skipped {
		fmt.Fprintf(&b, "  skipped: %s\n", why)
	}
	return b.String()
}

// filled names the fields of a struct that are set, except addresses.
func filled(v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		f, name := v.Field(i), strings.ToLower(v.Type().Field(i).Name)
		switch {
		case f.IsZero() || name == "iri" || name == "url" || name == "distributions":
		case f.Kind() == reflect.Slice || f.Kind() == reflect.Map:
			if f.Len() > 0 {
				fmt.Fprintf(&b, " %s %d", name, f.Len())
			}
		default:
			fmt.Fprintf(&b, " %s", name)
		}
	}
	return b.String()
}

// longest is the number of bytes of a text that is written out.
const longest = 160

func fields(b *strings.Builder, name string, v reflect.Value, indent string) {
	switch {
	case v.IsZero():
	case v.Kind() == reflect.Struct && v.NumField() == 2 && v.Type().Field(0).Name == "Value":
		lang := v.Field(1).String()
		if lang != "" {
			lang = "@" + lang
		}
		fmt.Fprintf(b, "%s%s: %s%s\n", indent, name, short(v.Field(0).String()), lang)
	case v.Kind() == reflect.Struct:
		fmt.Fprintf(b, "%s%s\n", indent, name)
		for i := range v.NumField() {
			fields(b, strings.ToLower(v.Type().Field(i).Name), v.Field(i), indent+"  ")
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Float64:
		fmt.Fprintf(b, "%s%s: %v\n", indent, name, v.Interface())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fields(b, name, v.Index(i), indent)
		}
	case v.Kind() == reflect.Map:
		m := v.Interface().(map[string]string)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(b, "%s%s %s: %s\n", indent, name, k, short(m[k]))
		}
	default:
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, short(fmt.Sprint(v.Interface())))
	}
}

func short(s string) string {
	s = strings.NewReplacer("\r", "", "\n", " ").Replace(s)
	if len(s) > longest {
		return strings.ToValidUTF8(s[:longest], "") + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}
