package entries

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of a calendar.
const (
	maxLine  = 64 << 10 // bytes of a content line, unfolded
	maxProps = 200      // properties of an entry
)

// lines reads the content lines of iCalendar (RFC 5545, 3.1), which may be folded.
type lines struct {
	r    *bufio.Reader
	next string
	err  error
}

func newLines(r io.Reader) *lines {
	l := &lines{r: bufio.NewReaderSize(r, 64<<10)}
	l.next, l.err = l.physical()
	return l
}

// physical reads a line as it stands. It drops what exceeds maxLine.
func (l *lines) physical() (string, error) {
	var b strings.Builder
	for {
		part, err := l.r.ReadSlice('\n')
		if b.Len() < maxLine {
			b.Write(part)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(b.String(), "\r\n"), err
		}
	}
}

// line returns the next content line, and io.EOF at the end.
func (l *lines) line() (string, error) {
	if l.err != nil && l.next == "" {
		return "", l.err
	}
	var b strings.Builder
	b.WriteString(l.next)
	for l.err == nil {
		l.next, l.err = l.physical()
		if l.next == "" || l.next[0] != ' ' && l.next[0] != '\t' {
			return b.String(), nil
		}
		if b.Len() < maxLine {
			b.WriteString(l.next[1:])
		}
	}
	l.next = ""
	return b.String(), nil
}

// property is a content line in its parts.
type property struct {
	name, value string
	dates       bool // VALUE=DATE
}

func propertyOf(line string) (p property) {
	quoted := false
	colon := strings.IndexFunc(line, func(r rune) bool {
		quoted = quoted != (r == '"')
		return r == ':' && !quoted
	})
	if colon < 0 {
		return p
	}
	p.value = line[colon+1:]
	name, params, _ := strings.Cut(line[:colon], ";")
	p.name = strings.ToUpper(strings.TrimSpace(name))
	p.dates = strings.Contains(strings.ToUpper(params), "VALUE=DATE") && !strings.Contains(strings.ToUpper(params), "VALUE=DATE-TIME")
	return p
}

// text returns the value of a property: dates and times in XSD's forms, texts without escapes.
func (p property) text() string {
	switch p.name {
	case "DTSTART", "DTEND", "DTSTAMP", "DUE", "CREATED", "LAST-MODIFIED", "COMPLETED", "RECURRENCE-ID":
		for in, out := range map[string]string{"20060102T150405Z": "2006-01-02T15:04:05Z", "20060102T150405": "2006-01-02T15:04:05",
			"20060102": "2006-01-02"} {
			if at, err := time.Parse(in, p.value); err == nil {
				return at.Format(out)
			}
		}
	case "GEO":
		return strings.ReplaceAll(p.value, ";", " ")
	}
	return strings.TrimSpace(unescape.Replace(p.value))
}

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";")

// calendar profiles the events, tasks and journal entries of a calendar as rows. Alarms and time zones are left out.
func calendar(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	l := newLines(in.Text())
	records := csvprofile.NewRecords()
	records.Sample, records.Each, records.Begin = o.Sample, o.RowsOf(0), o.BeginOf(0)
	var open []string
	var keys, values []string
	truncated, begun := false, false
	for n := 0; !truncated; n++ {
		line, err := l.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n&255 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		p := propertyOf(line)
		kind := strings.ToUpper(strings.TrimSpace(p.value))
		switch {
		case p.name == "BEGIN":
			begun = begun || kind == "VCALENDAR"
			if open = append(open, kind); len(open) > 16 {
				return nil, fmt.Errorf("%w: nested too deeply", source.ErrFormat)
			}
			if entry(kind) {
				keys, values = []string{"type"}, []string{strings.ToLower(kind[1:])}
			}
		case p.name == "END" && len(open) > 0:
			if last := open[len(open)-1]; entry(last) && len(keys) > 1 {
				records.Add(keys, values)
				truncated = records.Rows() >= o.MaxRows
			}
			open = open[:len(open)-1]
		case len(open) > 0 && entry(open[len(open)-1]) && p.name != "":
			keys, values = set(keys, values, strings.ToLower(p.name), p.text())
		}
		if err := records.Err(); err != nil {
			return nil, err
		}
	}
	if records.Rows() == 0 {
		if !begun {
			return nil, fmt.Errorf("%w: it is no calendar", source.ErrFormat)
		}
		return nil, nil
	}
	p := records.Profile("")
	if p.Truncated = truncated || len(open) > 0; len(open) > 0 {
		p.Why = append(p.Why, fmt.Sprintf("it ends within a %s", open[len(open)-1]))
	}
	return []*csvprofile.Profile{p}, nil
}

// entry reports whether a component is a row.
func entry(kind string) bool { return kind == "VEVENT" || kind == "VTODO" || kind == "VJOURNAL" }

// set adds a property, or another value of it.
func set(keys, values []string, key, value string) (k, v []string) {
	for i := range keys {
		if keys[i] == key {
			if len(values[i]) < maxLine {
				values[i] += "; " + value
			}
			return keys, values
		}
	}
	if len(keys) >= maxProps {
		return keys, values
	}
	return append(keys, key), append(values, value)
}

// CalendarHead returns the name, the description and the software of a calendar.
func CalendarHead(in source.Input) (name, description, software string) {
	l := newLines(in.Text())
	for range 200 {
		line, err := l.line()
		if err != nil {
			break
		}
		switch p := propertyOf(line); p.name {
		case "X-WR-CALNAME", "NAME":
			name = p.text()
		case "X-WR-CALDESC", "DESCRIPTION":
			description = p.text()
		case "PRODID":
			software = p.text()
		case "BEGIN":
			if entry(strings.ToUpper(p.value)) {
				return name, description, software
			}
		}
	}
	return name, description, software
}
