package relevance

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/cputime"
)

func scorer(t testing.TB, o Options) *Scorer {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTwentyFourLanguages(t *testing.T) {
	t.Parallel()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]map[string]int{}
	for _, one := range all {
		if one.lang == "" {
			continue
		}
		if kinds[one.lang] == nil {
			kinds[one.lang] = map[string]int{}
		}
		kinds[one.lang][one.kind]++
	}
	if len(kinds) != 24 {
		t.Errorf("%d languages", len(kinds))
	}
	for lang, has := range kinds {
		if has[Data] < 8 || has[Noise] < 8 || has[next] == 0 || has[download] == 0 || len(has) != 4 {
			t.Errorf("%s: %v", lang, has)
		}
	}
}

func TestWordsOfDataInManyLanguagesAndSpellings(t *testing.T) {
	t.Parallel()
	s := scorer(t, Options{})
	for text, want := range map[string]string{
		"Offene Daten":                     "offene daten",
		"Datensätze":                       "datensätze",
		"datensaetze":                      "datensätze",
		"HAUSHALTSDATEN 2024":              "haushaltsdaten",
		"Bevölkerungsstatistik":            "*statistik",
		"Données ouvertes":                 "données ouvertes",
		"Donnees ouvertes":                 "données ouvertes",
		"Jeux de données":                  "jeux de données",
		"Otevřená data":                    "otevřená data",
		"Datos abiertos":                   "datos abiertos",
		"Statistiche demografiche":         "statistic*",
		"Отворени данни":                   "отворени данни",
		"Ανοικτά δεδομένα":                 "ανοικτά δεδομένα",
		"Nyílt adatok":                     "nyílt adatok",
		"avoin data":                       "avoin data",
		"Trees (CSV)":                      "csv",
		"Datenschutz":                      "",
		"Datenschutzerklärung":             "",
		"Protection des données":           "",
		"Protección de datos":              "",
		"Kontaktdaten":                     "",
		"Personal data":                    "",
		"News":                             "",
		"Weather":                          "",
		"":                                 "",
		"Update":                           "",
		strings.Repeat("x", 100) + " data": "data",
	} {
		if got := s.Word(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"weiter": next, "Next page": next, "Herunterladen": download, "Impressum": Noise,
		"Daten": Data, "Hello": ""} {
		if got := s.Kind(text); got != want {
			t.Errorf("%q is of kind %q, want %q", text, got, want)
		}
	}
}

func TestScoresAreWeightedSums(t *testing.T) {
	t.Parallel()
	s := scorer(t, Options{Keywords: []string{"Bäume", "air quality"}, Entities: []string{"Umweltbundesamt"}})
	for _, c := range []struct {
		anchor, address string
		want            float64
	}{
		{"Open data", "https://a.example/x", 1},
		{"x", "https://data.example/open-data/x", 0.5}, // the host does not count
		{"Open data", "https://a.example/open-data/", 1.5},
		{"Datenschutz", "https://a.example/datenschutz", -1.5},
		{"Bäume", "https://a.example/baeume", 3},
		{"Air quality of the Umweltbundesamt (CSV)", "/", 4},
		{"weiter", "/next", 0},
		{"x", "/offene%20daten", 0.5},
	} {
		if got := s.Link(c.anchor, c.address); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q %s: %v, want %v", c.anchor, c.address, got, c.want)
		}
		if got := s.ExplainLink(c.anchor, c.address); math.Abs(got.Value-c.want) > 1e-9 {
			t.Errorf("%q %s: %+v, want %v", c.anchor, c.address, got, c.want)
		}
	}
	page := s.Page(Page{URL: "https://a.example/umwelt", Title: "Bäume in der Stadt", Headings: []string{"Bäume", "Daten"},
		Text: "Hier stehen Bäume, Bäume und Bäume."})
	if want := 2 + 1.4 + 0.7 + 0.4; math.Abs(page.Value-want) > 1e-9 {
		t.Errorf("page: %+v, want %v", page, want)
	}
	if len(page.Parts) != 4 || page.Parts[0] != (Part{"Bäume", Keyword, "title", 2}) {
		t.Errorf("parts: %+v", page.Parts)
	}
}

func TestWeightsChangeScores(t *testing.T) {
	t.Parallel()
	s := scorer(t, Options{Keywords: []string{"data"}, Weights: Weights{Keyword: -3, Anchor: 2, Place: 0.5}})
	if got := s.Link("Data", "/"); got != -6 {
		t.Errorf("%v", got)
	}
	page := s.Page(Page{Title: "Hotels in Vienna, Austria"})
	if page.Value != 1 || !slices.ContainsFunc(page.Parts, func(p Part) bool { return p.What == "Vienna" && p.Kind == "place" }) {
		t.Errorf("%+v", page)
	}
}

func TestMalformedOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{Keywords: []string{""}},
		{Keywords: []string{"*a*"}},
		{Entities: []string{"--"}},
		{Keywords: make([]string, MaxKeywords+1)},
		{Keywords: []string{strings.Repeat("a", maxShort+1)}},
		{Weights: Weights{Title: math.NaN()}},
		{Weights: Weights{Noise: -101}},
	} {
		if _, err := New(o); !errors.Is(err, ErrBad) || !errors.Is(o.Check(), ErrBad) {
			t.Errorf("%.80v: %v", o, err)
		}
	}
}

func TestScoreOfASite(t *testing.T) {
	t.Parallel()
	var one, many Tally
	one.Add(3)
	for range 100 {
		many.Add(3)
	}
	if one.Value() >= many.Value() || many.Value() > 3 || one.Best != 3 || (Tally{}).Value() != 0 {
		t.Errorf("%v, %v", one.Value(), many.Value())
	}
}

func FuzzScores(f *testing.F) {
	s := scorer(f, Options{Keywords: []string{"Bäume*"}, Weights: Weights{Place: 1}})
	f.Add("Offene Daten der Stadt Wien", "https://a.example/%C3%A4?x=1")
	f.Add("\xff\xfe Straße İ ﬁ", "http://")
	f.Fuzz(func(t *testing.T, text, address string) {
		value := s.Link(text, address)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			t.Errorf("%v", value)
		}
		if got := s.ExplainLink(text, address); len(got.Parts) > maxParts {
			t.Errorf("%d parts", len(got.Parts))
		}
		s.Page(Page{URL: address, Title: text, Headings: []string{text}, Text: text})
		s.Word(text)
	})
}

func BenchmarkLink(b *testing.B) {
	s := scorer(b, Options{Keywords: []string{"Bäume", "air quality"}})
	links := [][2]string{{"Veranstaltungen in der Stadt", "https://a.example/kultur/veranstaltungen"},
		{"Datensätze (CSV)", "https://a.example/daten/datensaetze?page=3"},
		{"Read more about our new park and what it has cost", "https://a.example/2024/03/new-park-opens/"},
		{"Στατιστικά στοιχεία", "https://a.example/node/17"}}
	b.ReportAllocs()
	cpu, n := cputime.Used(), 0
	for b.Loop() {
		l := links[n%len(links)]
		s.Link(l[0], l[1])
		n++
	}
	b.ReportMetric(float64((cputime.Used()-cpu).Nanoseconds())/1000/float64(n), "cpu-µs/link")
}
