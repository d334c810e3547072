package scrape

import (
	"fmt"
	"regexp"
	"strings"
)

// lines is the text of rules, to say in which line a fault is; "" if that is not known. Tables that are not written
// with [[page]] and [[page.value]] are not found.
type lines string

var (
	pageTable  = regexp.MustCompile(`^\s*\[\[\s*page\s*\]\]`)
	valueTable = regexp.MustCompile(`^\s*\[\[\s*page\s*\.\s*value\s*\]\]`)
)

// table returns where the table of a page begins, or that of a value if value is not negative, as "line 3: ".
func (l lines) table(page, value int) string {
	pages, values := -1, -1
	number := 0
	for line := range strings.Lines(string(l)) {
		number++
		switch {
		case pageTable.MatchString(line):
			pages++
		case pages == page && valueTable.MatchString(line):
			values++
		}
		if pages == page && values == value {
			return at(number)
		}
	}
	return ""
}

// setting returns where a setting first occurs.
func (l lines) setting(name string) string {
	number := 0
	for line := range strings.Lines(string(l)) {
		number++
		key, _, _ := strings.Cut(line, "=")
		if strings.Trim(key, " \t\"'[]") == name {
			return at(number)
		}
	}
	return ""
}

func at(line int) string { return fmt.Sprintf("line %d: ", line) }
