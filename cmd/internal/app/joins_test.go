package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// planted is one table of the corpus: the values of its key column.
type planted struct {
	keys map[string]bool
	body string
}

// corpus plants tables that share keys in parts from nothing to all, with columns beside them that mean nothing.
func corpus(rng *rand.Rand) map[string]planted {
	all := map[string]planted{}
	for pool := range 5 {
		for n, plan := range []struct{ shared, own int }{{400, 0}, {300, 0}, {240, 60}, {90, 210}, {40, 5}, {30, 200}} {
			t := planted{keys: map[string]bool{}}
			for _, i := range rng.Perm(400)[:plan.shared] {
				t.keys[fmt.Sprintf("station %d/%03d", pool, i)] = true
			}
			for i := range plan.own {
				t.keys[fmt.Sprintf("site %d-%d-%d", pool, n, i)] = true
			}
			var b strings.Builder
			b.WriteString("row,station,count,share,open,kind\n")
			row := 0
			for k := range t.keys {
				row++
				fmt.Fprintf(&b, "%d,%s,%d,%.3f,%v,%s\n", row, k, rng.IntN(500), rng.Float64(), rng.IntN(2) == 0,
					[]string{"new", "old", "gone", "lost", "planned"}[rng.IntN(5)])
			}
			t.body = b.String()
			all[fmt.Sprintf("/%d-%d.csv", pool, n)] = t
		}
	}
	return all
}

// TestPlantedJoinsAreFoundOverHTTPAndBySPARQL takes a planted corpus through the whole archive: fetched, profiled,
// committed, asked for.
func TestPlantedJoinsAreFoundOverHTTPAndBySPARQL(t *testing.T) {
	t.Parallel()
	tables := corpus(rand.New(rand.NewPCG(8, 6)))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := tables[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		io.WriteString(w, file.body)
	}))
	defer web.Close()
	var files []string
	for path := range tables {
		files = append(files, web.URL+path)
	}
	h := crawled(t, files...)
	ask := func(address, accept string) []byte {
		r := httptest.NewRequest("GET", address, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("GET %s: %d %s", address, w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
	right, wrong, missed := 0, 0, 0
	for path, mine := range tables {
		var answer struct {
			Joins []struct {
				With struct {
					URL, Name string
				}
				Containment float64
			}
		}
		if err := json.Unmarshal(ask("/joins?url="+url.QueryEscape(web.URL+path), "application/json"), &answer); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, j := range answer.Joins {
			if j.Containment >= 0.5 {
				found[strings.TrimPrefix(j.With.URL, web.URL)] = true
			}
		}
		rows := ask("/sparql?query="+url.QueryEscape(`PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#> PREFIX csvw: <http://www.w3.org/ns/csvw#> PREFIX dct: <http://purl.org/dc/terms/>
			SELECT DISTINCT ?other { <`+web.URL+path+`> dct:hasVersion ?v . ?t csvw:url ?v ; csvw:tableSchema/csvw:column ?c . ?j arc:joinFrom ?c ; arc:joinTo ?d ; arc:containment ?share .
			FILTER(?share >= 0.5) ?c arc:containedIn ?d . ?u csvw:tableSchema/csvw:column ?d ; csvw:url ?w . ?v arc:joinableWith ?w . ?other dct:hasVersion ?w }`), "text/csv")
		if lines := bytes.Count(bytes.TrimSpace(rows), []byte("\n")); lines != len(found) {
			t.Errorf("%s: %d tables by SPARQL, %d over JSON", path, lines, len(found))
		}
		for other, theirs := range tables {
			common := 0
			for k := range mine.keys {
				if theirs.keys[k] {
					common++
				}
			}
			is := other != path && 2*common >= len(mine.keys)
			switch {
			case is && found[other]:
				right++
			case is:
				missed++
			case found[other]:
				wrong++
			}
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("%d tables: %d joins found, %d wrong, %d missed: precision %.3f, recall %.3f", len(tables), right, wrong, missed, precision,
		recall)
	if precision < 0.95 || recall < 0.95 || right == 0 {
		t.Errorf("precision %.3f, recall %.3f of %d", precision, recall, right+missed)
	}
}
