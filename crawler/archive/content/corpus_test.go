package content

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
)

// series is the versions of one address, oldest first.
type series struct {
	name     string
	versions [][]byte
}

// corpus returns versioned open data: tables, JSON, XML, and compressed files of 4 KB to 4 MB. Versions have edited
// cells, appended rows, deleted rows, several of these, or are replaced. The corpus is always the same.
func corpus(files, versions int) (all []series) {
	r := rng(20261121)
	for i := range files {
		size := int(4096 * pow2(r.Float64()*10)) // log-uniform
		kind := r.IntN(10)
		s := series{name: fmt.Sprintf("%03d", i)}
		rows := makeRows(r, kind, size)
		habit := r.IntN(10) // a source keeps its habits
		s.versions = append(s.versions, render(kind, rows))
		for range versions - 1 {
			rows = evolve(r, kind, habit, rows)
			s.versions = append(s.versions, render(kind, rows))
		}
		all = append(all, s)
	}
	return all
}

func pow2(x float64) float64 {
	y := 1.0
	for ; x >= 1; x-- {
		y *= 2
	}
	return y * (1 + x)
}

func row(r *rand.Rand, kind, id int) string {
	places := []string{"Wien", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Villach", "Wels", "Sankt Pölten", "Dornbirn"}
	streets := []string{"Hauptstraße", "Bahnhofstraße", "Kirchengasse", "Am Graben", "Ringstraße", "Feldweg", "Mühlgasse"}
	states := []string{"open", "closed", "planned", "unknown"}
	place, street, state := places[r.IntN(len(places))], streets[r.IntN(len(streets))], states[r.IntN(len(states))]
	lat, lon := 46+r.Float64()*3, 9+r.Float64()*8
	day := fmt.Sprintf("20%02d-%02d-%02d", 10+r.IntN(17), 1+r.IntN(12), 1+r.IntN(28))
	switch kind {
	case 7:
		return fmt.Sprintf(`{"id":%d,"place":%q,"address":"%s %d","state":%q,"lat":%.6f,"lon":%.6f,"since":%q}`, id, place, street,
			1+r.IntN(200), state, lat, lon, day)
	case 8:
		return fmt.Sprintf(
			"  <entry id=\"%d\"><place>%s</place><address>%s %d</address><state>%s</state><position>%.6f "+
				"%.6f</position><since>%s</since></entry>", id, place, street, 1+r.IntN(200), state, lat, lon, day)
	}
	return fmt.Sprintf("%d;%s;%s %d;%s;%.6f;%.6f;%s;%d", id, place, street, 1+r.IntN(200), state, lat, lon, day, r.IntN(100000))
}

func makeRows(r *rand.Rand, kind, size int) (rows []string) {
	for n, id := 0, 1; n < size; id++ {
		rows = append(rows, row(r, kind, id))
		n += len(rows[len(rows)-1]) + 1
	}
	return rows
}

func evolve(r *rand.Rand, kind, habit int, old []string) []string {
	rows := slices.Clone(old)
	if r.IntN(20) == 0 {
		habit = r.IntN(10)
	}
	edits := func(n int) {
		for range n {
			rows[r.IntN(len(rows))] = row(r, kind, r.IntN(1_000_000))
		}
	}
	switch {
	case habit <= 3: // a few rows are edited
		edits(1 + r.IntN(1+len(rows)/400))
	case habit <= 6: // rows are appended
		for range 1 + r.IntN(1+len(rows)/20) {
			rows = append(rows, row(r, kind, len(rows)+1))
		}
	case habit == 7: // rows are deleted
		for range 1 + r.IntN(1+len(rows)/200) {
			if len(rows) > 3 {
				i := r.IntN(len(rows))
				rows = slices.Delete(rows, i, i+1)
			}
		}
	case habit == 8: // all of these
		edits(1 + r.IntN(1+len(rows)/500))
		i := r.IntN(len(rows) + 1)
		rows = slices.Insert(rows, i, row(r, kind, 7), row(r, kind, 8))
		rows = slices.Delete(rows, 0, 1)
	default: // a new file
		size := 0
		for _, line := range old {
			size += len(line) + 1
		}
		rows = makeRows(r, kind, size)
	}
	return rows
}

func render(kind int, rows []string) []byte {
	var b bytes.Buffer
	switch kind {
	case 7:
		b.WriteString("[\n")
		for i, line := range rows {
			b.WriteString(line)
			if i < len(rows)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("]\n")
	case 8:
		b.WriteString("<?xml version=\"1.0\"?>\n<list>\n")
		for _, line := range rows {
			b.WriteString(line + "\n")
		}
		b.WriteString("</list>\n")
	default:
		b.WriteString("id;ort;adresse;status;lat;lon;seit;wert\n")
		for _, line := range rows {
			b.WriteString(line + "\n")
		}
	}
	if kind == 9 { // compressed, as many portals have it
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(b.Bytes())
		w.Close()
		return z.Bytes()
	}
	return b.Bytes()
}
