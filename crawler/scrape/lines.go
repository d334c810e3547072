package scrape

import (
	"fmt"
	"regexp"
	"strings"
)

// lines is the TOML text of rules, in which the lines of faults are looked up. It is "" for rules in YAML. Only tables
// that are written as [[page]] and [[page.value]] are found.
type lines string

var (
	pageTable  = regexp.MustCompile(`^\s*\[\[\s*page\s*\]\]`)
	valueTable = regexp.MustCompile(`^\s*\[\[\s*page\s*\.\s*value\s*\]\]`)
)

// table returns the line of a table as "line 3: ", or "" if it is not found. page is the index of a [[page]]. value is
// the index of a [[page.value]] of that page, or -1 for the table of the page itself.
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

// setting returns the first line with a setting as "line 3: ", or "" if it is not found.
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
