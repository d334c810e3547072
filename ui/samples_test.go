package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"
)

func TestTheFirstRowsOfTablesThatAreNoTextAreShown(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	for i := range 50 {
		if err := book.SetSheetRow("Sheet1", fmt.Sprint("A", i+2), &[]any{i, fmt.Sprintf("<b>school %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SetSheetRow("Sheet1", "A1", &[]string{"id", "school"}); err != nil {
		t.Fatal(err)
	}
	var xlsx, columns bytes.Buffer
	if err := book.Write(&xlsx); err != nil {
		t.Fatal(err)
	}
	type tree struct {
		ID      int64
		Species string
	}
	if err := parquet.Write(&columns, []tree{{1, "<i>oak"}, {2, "lime"}}); err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	for _, c := range []struct {
		url, mediaType, body string
		want                 []string
		rows                 int
		more                 bool
	}{
		{"http://data.city.example/s.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", xlsx.String(),
			[]string{"Sheet1</h3>", "<td>&lt;b&gt;school 3</td>"}, 20, true},
		{"http://data.city.example/t.parquet", "application/vnd.apache.parquet", columns.String(),
			[]string{"As a table</h3>", "<td>&lt;i&gt;oak</td>", `<th scope="col">Species</th>`}, 2, false},
		{"http://data.city.example/a.json", "application/json", `[{"id":1,"name":"<u>x"},{"id":2,"name":"y","more":true}]`,
			[]string{"<td>&lt;u&gt;x</td>", `<th scope="col">more</th>`}, 2, false},
	} {
		w.add(c.url, "A table", c.mediaType, "https://portal.city.example/", 1, func(int) string { return c.body })
		text := body(t, get(t, site(w), "/version?id="+w.versions[c.url][0].ID))
		begin := strings.Index(text, "The first rows")
		if begin < 0 {
			t.Errorf("%s: no rows", c.url)
			continue
		}
		part, _, _ := strings.Cut(text[begin:], "</section>")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing", c.url, want)
			}
		}
		if got := strings.Count(part, "<tr><td>"); got != c.rows || strings.Contains(part, ">The first rows.") != c.more {
			t.Errorf("%s: %d rows, want %d\n%s", c.url, got, c.rows, part)
		}
	}
}
