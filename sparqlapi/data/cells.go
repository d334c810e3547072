package data

import "strings"

// textsOf returns the cells of a row as valid UTF-8, as many as the table has columns.
func textsOf(cells [][]byte, width int) []string {
	return appendTexts(make([]string, 0, width), cells, width)
}

func appendTexts(list []string, cells [][]byte, width int) []string {
	for i := range width {
		if i < len(cells) {
			list = append(list, textOf(cells[i]))
		} else {
			list = append(list, "")
		}
	}
	return list
}

func textOf(cell []byte) string { return strings.ToValidUTF8(string(cell), "\uFFFD") }

// holdAll reports whether a row fulfils all comparisons. Only the cells that are compared are looked at.
func holdAll(where []clause, columns []column, cells [][]byte) bool {
	for i := range where {
		cell := ""
		if at := where[i].at; at < len(cells) {
			cell = textOf(cells[at])
		}
		if !where[i].fits(&columns[where[i].at], cell) {
			return false
		}
	}
	return true
}
