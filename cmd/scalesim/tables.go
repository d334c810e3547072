package main

import (
	"fmt"
	"math"
	"strings"
)

// content is what the page's template shows.
type content struct{ Measured, Assumed, Visits, Cores, Storage, Limits string }

// archives are the sizes that the page has, after three years.
func archives() []load {
	var all []load
	for _, urls := range []float64{10e6, 100e6, 1e9} {
		for _, days := range []float64{30, 7, 1} {
			all = append(all, load{urls, days * day, 3})
		}
	}
	return all
}

func tables(m *model) content {
	var c content
	measured := [][]string{{"what", "likely", "from", "to", "unit", "source"}}
	assumed := [][]string{{"what", "likely", "from", "to", "unit"}}
	for _, i := range m.all() {
		if i.Measured {
			measured = append(measured, []string{i.Name, plain(i.likely), plain(i.low), plain(i.high), i.Unit, i.Source})
		} else {
			assumed = append(assumed, []string{i.Name, plain(i.likely), plain(i.low), plain(i.high), strings.TrimSpace(i.Unit)})
		}
	}
	visits := [][]string{
		{"URLs", "each every", "visits a second", "new versions a second", "from the web", "workers to writer", "log to each replica",
			"turns in use"}}
	cores := [][]string{{"URLs", "each every", "cores of the writer", "cores of workers", "cores for a first round in 90 days"}}
	storage := [][]string{
		{"URLs", "versions after three years", "packs", "database, on the writer and each replica", "opens in (verified)", "PUTs a day"}}
	for _, l := range archives() {
		k := m.of(l)
		name, every := short(l.urls), fmt.Sprintf("%.0f d", l.interval/day)
		visits = append(visits,
			[]string{name, every, span(k.visits, short), span(k.versions, short), span(k.download, bits), span(k.parcels, bits),
				span(k.shipped, bits), span(k.turns, percent)})
		cores = append(cores, []string{name, every, span(k.writerCores, short), span(k.workerCores, short), span(k.firstRound, short)})
		if l.interval != 7*day { // the interval changes nothing that is kept
			continue
		}
		storage = append(storage,
			[]string{name, span(k.kept, short), span(k.packs, size), span(k.database, size), span(k.open, lasting), span(k.puts, short)})
	}
	limits := [][]string{{"each every", "URLs that one writer can visit"}}
	for _, days := range []float64{30, 7, 1} {
		limits = append(limits, []string{fmt.Sprintf("%.0f d", days), span(m.limit(days*day), short)})
	}
	c.Measured, c.Assumed, c.Visits, c.Cores, c.Storage, c.Limits = table(measured), table(assumed), table(visits), table(cores),
		table(storage), table(limits)
	return c
}

// table writes rows as Markdown, the first as its head.
func table(rows [][]string) string {
	var b strings.Builder
	for i, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(r)) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// span writes a figure as its likely value and its range.
func span(f figure, format func(float64) string) string {
	low, high := format(f.low), format(f.high)
	if low == high {
		return format(f.likely)
	}
	return fmt.Sprintf("%s (%s to %s)", format(f.likely), low, high)
}

// digits writes a number with two significant digits.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	scale := math.Pow(10, 1-math.Floor(math.Log10(math.Abs(v))))
	v = math.Round(v*scale) / scale
	return fmt.Sprintf("%.*f", max(0, int(math.Ceil(math.Log10(scale)))), v)
}

// short writes a number with k, M or G.
func short(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e4, "k"}} {
		if v >= unit.of*0.9995 {
			if unit.name == "k" {
				return digits(v/1e3) + " k"
			}
			return trim(digits(v/unit.of)) + unit.name
		}
	}
	return trim(digits(v))
}

// trim leaves out zeros behind the point.
func trim(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func percent(v float64) string { return trim(digits(v*100)) + " %" }

func scaled(v float64, base float64, units ...string) string {
	for _, u := range units[:len(units)-1] {
		if v < base {
			return trim(digits(v)) + " " + u
		}
		v /= base
	}
	return trim(digits(v)) + " " + units[len(units)-1]
}

func size(v float64) string { return scaled(v, 1000, "B", "KB", "MB", "GB", "TB", "PB") }
func bits(v float64) string {
	return scaled(v*8, 1000, "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
}

func lasting(seconds float64) string {
	switch {
	case seconds < 120:
		return trim(digits(seconds)) + " s"
	case seconds < 7200:
		return trim(digits(seconds/60)) + " min"
	}
	return trim(digits(seconds/3600)) + " h"
}

// plain writes an input.
func plain(v float64) string {
	if v >= 1e5 {
		return short(v)
	}
	return trim(fmt.Sprintf("%.4f", v))
}
