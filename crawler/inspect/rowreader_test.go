package inspect

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
)

// htmlTable returns a table of a page.
func htmlTable(caption string, rows ...string) string {
	text := "<table>"
	if caption != "" {
		text += "<caption>" + caption + "</caption>"
	}
	for i, row := range rows {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		text += "<tr>"
		for c := range strings.SplitSeq(row, "|") {
			text += "<" + cell + ">" + c + "</" + cell + ">"
		}
		text += "</tr>"
	}
	return text + "</table>"
}

// inspected returns the tables of a file.
func inspected(t *testing.T, name, body string) (Input, []*csvprofile.Profile) {
	t.Helper()
	in := Input{Name: name, Size: int64(len(body)), Body: strings.NewReader(body)}
	var err error
	if in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: in.Size, Body: in.Body}); err != nil {
		t.Fatal(err)
	}
	inside := inspect(t, name, []byte(body))
	if len(inside.Tables) == 0 {
		t.Fatalf("%s: no table in %s", name, body)
	}
	return in, inside.Tables
}

func TestRowsAreOfTheTableThatWasProfiled(t *testing.T) {
	t.Parallel()
	towns := htmlTable("", "town|people", "Wien|1911191", "Graz|291072")
	rivers := htmlTable("", "river|km", "Mur|453", "Enns|254", "Ybbs|134")
	lakes := htmlTable("lakes", "name|depth", "Attersee|169", "Traunsee|191")
	peaks := htmlTable("peaks", "name|depth", "Dachstein|2995", "Traunstein|1691")
	more := htmlTable("", "town|people", "Linz|1", "Wels|2", "Steyr|3")
	jsonRivers := `"rivers":[{"river":"Mur","km":453},{"river":"Enns","km":254}]`
	jsonTowns := `"towns":[{"town":"Wien","people":1},{"town":"Graz","people":2}]`
	for name, c := range map[string]struct {
		file          string // its name
		before, after string // what was profiled, what is read
		table         int    // of before
		want          string // first cell, "" for ErrOtherTables
	}{
		"a table less before it":       {"a.html", towns + rivers, rivers, 1, "Mur"},
		"a table more before it":       {"a.html", rivers, towns + lakes + rivers, 0, "Mur"},
		"the other order":              {"a.html", towns + rivers, rivers + towns, 0, "Wien"},
		"the same columns, other name": {"a.html", lakes + peaks, peaks + lakes, 0, "Attersee"},
		"one with another name":        {"a.html", lakes, peaks, 0, "Dachstein"},
		"as many rows":                 {"a.html", rivers + towns, rivers + rivers + more + towns, 1, "Wien"},
		"two that may be it":           {"a.html", rivers + towns, rivers + rivers + towns + towns, 1, ""},
		"none like it":                 {"a.html", towns + rivers, towns + lakes, 1, ""},
		"only one other":               {"a.html", towns, rivers, 0, ""},
		"more rows":                    {"a.html", towns, more, 0, "Linz"},
		"JSON in the other order": {"a.json", "{" + jsonRivers + "," + jsonTowns + "}", "{" + jsonTowns + "," + jsonRivers + "}", 0,
			"Mur"},
		"JSON without it": {"a.json", "{" + jsonRivers + "," + jsonTowns + "}", "{" + jsonTowns + "}", 0, ""},
	} {
		page := func(body string) string {
			if strings.HasSuffix(c.file, ".html") {
				return "<!DOCTYPE html><html><body>" + body + "</body></html>"
			}
			return body
		}
		_, found := inspected(t, c.file, page(c.before))
		in, _ := inspected(t, c.file, page(c.after))
		rows, err := rowsOf(t.Context(), in, "", in.Found.Type, in.Found.Charset, c.table, found[c.table], 0)
		first := ""
		if len(rows) > 0 {
			first = rows[0][0]
		}
		fails := c.want == "" || name == "more rows"
		if first != c.want || errors.Is(err, ErrOtherTables) != fails || !fails && (err != nil || int64(len(rows)) != found[c.table].Rows) {
			t.Errorf("%s: rows %v, error %v", name, rows, err)
		}
	}
}

func TestColumnsThatRowsAddAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	in, found := inspected(t, "a.json", `[{"town":"Wien"},{"town":"Graz","people":2},{"river":"Mur"}]`)
	rows, err := rowsOf(t.Context(), in, "", in.Found.Type, "", 0, found[0], 0)
	if err != nil || fmt.Sprint(rows) != "[[Wien] [Graz 2] [  Mur]]" {
		t.Errorf("%q: %v", rows, err)
	}
}
