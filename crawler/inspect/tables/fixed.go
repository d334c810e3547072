package tables

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// fixedLook is the number of lines examined to find columns of fixed width.
const fixedLook = 500

// FixedWidth profiles a text whose columns begin at fixed places, with blanks between them. It returns nil if there are
// no such columns. Use it only for plain texts that are not delimited tables.
func FixedWidth(ctx context.Context, in Input, o Options) (*csvprofile.Profile, error) {
	o = o.WithDefaults()
	r := bufio.NewReaderSize(in.Text(), 256<<10)
	var head []string
	for len(head) < fixedLook {
		line, err := fixedLine(r)
		if line != "" {
			head = append(head, line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	starts := columnStarts(head)
	if starts == nil {
		return nil, nil
	}
	at := 0
	p, err := csvprofile.ReadRows(ctx, "", nil, func() ([]string, error) {
		if at < len(head) {
			at++
			return cutAt(head[at-1], starts), nil
		}
		for {
			line, err := fixedLine(r)
			if line != "" {
				return cutAt(line, starts), nil
			}
			if err != nil {
				return nil, err
			}
		}
	}, o.Reading(0))
	if err != nil || !source.Worthwhile(p) {
		return nil, err
	}
	p.Note("columns of fixed width, beginning at %v", starts)
	return p, nil
}

func fixedLine(r *bufio.Reader) (string, error) {
	line, err := readLine(r)
	return strings.TrimRight(string(line), " \r\n\t"), err
}

// columnStarts returns the places, in characters, where cells begin: after a place where every line has a blank. It
// returns nil if there are fewer than two columns, or the lines do not agree.
func columnStarts(lines []string) []int {
	if len(lines) < 4 {
		return nil
	}
	var filled []int // number of lines with a character at each place
	for _, l := range lines {
		i := 0
		for _, c := range l {
			if c == '\t' || i > 4000 {
				return nil
			}
			if i >= len(filled) {
				filled = append(filled, 0)
			}
			if c != ' ' {
				filled[i]++
			}
			i++
		}
	}
	var starts []int
	for i, n := range filled {
		if n > 0 && (i == 0 || filled[i-1] == 0) {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 || len(starts) > 500 {
		return nil
	}
	// Most lines have to fill every column, with few words in each cell: prose has such gaps only by accident.
	count := make([]int, len(starts))
	for _, l := range lines {
		for i, c := range cutAt(l, starts) {
			if strings.Count(c, " ") > 5 {
				return nil
			}
			if c != "" {
				count[i]++
			}
		}
	}
	for _, n := range count {
		if n*2 < len(lines) {
			return nil
		}
	}
	return starts
}

// cutAt splits a line at places counted in characters.
func cutAt(line string, starts []int) []string {
	row := make([]string, 0, len(starts))
	at, from, next := 0, 0, 1
	for i := range line {
		if next < len(starts) && at == starts[next] {
			row = append(row, strings.TrimSpace(line[from:i]))
			from = i
			next++
		}
		at++
	}
	row = append(row, strings.TrimSpace(line[from:]))
	for len(row) < len(starts) {
		row = append(row, "")
	}
	return row
}
