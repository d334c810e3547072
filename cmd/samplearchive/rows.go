package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// table is what a dataset's files say in a month.
type table struct {
	Title   string
	Columns []column
	Rows    [][]string
}

// tableOf returns the table of a dataset as it is in a month. Tables that change get rows, and some of their cells
// become others.
func tableOf(d dataset, month int) table {
	states := 0
	if d.Topic.Every > 0 {
		states = month / d.Topic.Every
	}
	r := seedOf(d.Name)
	columns := d.Topic.Columns
	if d.Topic.Geo {
		columns = append(append([]column{}, columns...), column{Name: "LAT", Kind: "lat"}, column{Name: "LON", Kind: "lon"})
	}
	t := table{Title: d.Title, Columns: columns}
	n := 24 + r.upTo(240)
	for i := range n + states*(1+r.upTo(9)) {
		cell := seedOf(d.Name, i)
		row := make([]string, len(columns))
		for k, c := range columns {
			row[k] = value(&cell, d, c, i)
		}
		t.Rows = append(t.Rows, row)
	}
	for s := range states {
		change := seedOf(d.Name, "change", s)
		for range 1 + change.upTo(4) {
			row := t.Rows[change.upTo(n)]
			for k, c := range columns {
				if c.Kind == "int" || c.Kind == "float" {
					row[k] = value(&change, d, c, 0)
				}
			}
		}
	}
	return t
}

func value(r *seeded, d dataset, c column, i int) string {
	switch c.Kind {
	case "place":
		return d.Place.Districts[i%len(d.Place.Districts)]
	case "name":
		return names()[r.upTo(len(names()))]
	case "text":
		return words()[r.upTo(len(words()))]
	case "year":
		return number(2026 - i%14)
	case "date":
		return time.Date(2025, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case "code":
		return fmt.Sprintf("%s-%05d", d.Topic.Name[:2], i+1)
	case "bool":
		return strconv.FormatBool(r.upTo(4) > 0)
	case "float":
		if r.upTo(25) == 0 {
			return "" // a value is missing
		}
		return strconv.FormatFloat(float64(r.upTo(c.Max*10))/10, 'f', 1, 64)
	case "lat":
		return coordinate(d.Place.Lat, r)
	case "lon":
		return coordinate(d.Place.Lon, r)
	}
	return number(r.upTo(c.Max))
}

func coordinate(near float64, r *seeded) string {
	return strconv.FormatFloat(math.Round((near+float64(r.upTo(1200)-600)/10_000)*1e5)/1e5, 'f', -1, 64)
}

// typed returns a cell as JSON has it.
func typed(c column, s string) any {
	switch c.Kind {
	case "int", "year":
		if v, err := strconv.Atoi(s); err == nil {
			return v
		}
	case "float", "lat", "lon":
		if s == "" {
			return nil
		}
		return json.Number(s)
	case "bool":
		return s == "true"
	}
	return s
}

// place returns the coordinates of a row, of the city if the row has none.
func (t table) place(row []string, d dataset) (lat, lon string) {
	if n := len(row); d.Topic.Geo {
		return row[n-2], row[n-1]
	}
	return fmt.Sprint(d.Place.Lat), fmt.Sprint(d.Place.Lon)
}
