package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler"
	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
)

// seedList reads a list of URLs, entry by entry. It holds at most maxLine bytes of the list at a time.
type seedList struct {
	name     string       // for messages
	defaults catalog.Seed // the values of fields that an entry lacks

	text    *listText
	line    int                          // number of the line read last
	pushed  []listLine                   // lines read ahead, the next one first
	entry   func() (catalog.Seed, error) // reads one entry of the list's kind
	columns map[string]int               // of a CSV list, by name
	comma   rune                         // between its cells
	cells   int                          // of each row of a CSV list
	secrets int                          // number of URLs with a user or a password
}

// maxLine is the maximum length of a line of a list, and of a row of a CSV list, which may span lines.
const maxLine = 1 << 20

// badLine is the error for one entry of a list. The entries after it can be read.
type badLine struct {
	Line int
	Err  error
}

func (e *badLine) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *badLine) Unwrap() error { return e.Err }

// errLongLine is the cause of a badLine.
var errLongLine = fmt.Errorf("longer than %d bytes", maxLine)

// newSeedList reads a list of the kind that the ending of its name says: .jsonl or .ndjson, .csv or .tsv, else a URL on
// each line. The kind of standard input, named "-", follows from its first line. The list may be compressed, and in
// UTF-16.
func newSeedList(name string, r io.Reader, defaults catalog.Seed) (*seedList, error) {
	text, err := openText(name, r)
	if err != nil {
		return nil, err
	}
	l := &seedList{name: name, defaults: defaults, text: text}
	kind := text.kind
	if name == "-" {
		if kind, err = l.guessKind(); err != nil {
			return nil, err
		}
	}
	switch kind {
	case ".jsonl", ".ndjson":
		l.entry = l.nextObject
	case ".csv", ".tsv":
		l.entry = l.nextRow
		return l, l.readHeader()
	default:
		l.entry = l.nextLine
	}
	return l, nil
}

// guessKind returns the ending that a file with this content should have.
func (l *seedList) guessKind() (string, error) {
	line, err := l.readText()
	if errors.Is(err, errLongLine) {
		l.unread(listLine{err: err})
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errLongLine) {
		return ".txt", nil
	}
	if err != nil {
		return "", err
	}
	l.unread(listLine{text: line})
	if strings.HasPrefix(line, "{") {
		return ".jsonl", nil
	}
	if _, ok := commaOf(line); ok {
		return ".csv", nil
	}
	return ".txt", nil
}

// commaOf returns the character that separates the cells of a CSV list, by the list's header: the one that makes a
// column url. ok is false if none does.
func commaOf(header string) (comma rune, ok bool) {
	for _, comma := range ",;\t|" {
		for cell := range strings.SplitSeq(header, string(comma)) {
			if strings.EqualFold(strings.Trim(cell, `" `), "url") {
				return comma, true
			}
		}
	}
	return ',', false
}

// next returns the next entry. The error is io.EOF at the end, a *badLine for a bad entry, or one of reading.
func (l *seedList) next() (catalog.Seed, error) {
	seed, err := l.entry()
	var bad *badLine
	switch {
	case err == nil:
	case errors.As(err, &bad) || errors.Is(err, io.EOF):
		return seed, err
	default:
		return seed, fmt.Errorf("%s: %w", l.name, err)
	}
	at := l.line
	if i := strings.IndexFunc(strings.TrimSpace(seed.URL), unicode.IsControl); i >= 0 { // another column, or lines that end in CR
		return seed, &badLine{at,
			fmt.Errorf("expected one URL; found a tab or another control character after %.100q", strings.TrimSpace(seed.URL)[:i])}
	}
	if more := afterURL(strings.TrimSpace(seed.URL)); more != "" {
		return seed, &badLine{at, fmt.Errorf("expected one URL; found %.100q after it", more)}
	}
	for _, text := range []string{seed.URL, seed.Portal, seed.Dataset, seed.Title, seed.Format} {
		if err := notUTF8(text); err != nil {
			return seed, &badLine{at, err}
		}
	}
	var secret bool
	if seed.URL, secret = address.WithoutSecret(seed.URL); secret {
		l.secrets++
	}
	if seed, err = crawler.CleanSeed(seed); err != nil {
		return seed, &badLine{at, err}
	}
	l.text.found(seed.URL)
	return seed, nil
}

// afterURL returns what a line has behind its URL that cannot be a part of it: another URL or a comment, after a blank,
// or a character that nobody sees, as pages put into what is copied from them. Blanks alone are parts of many URLs of
// portals.
func afterURL(url string) string {
	if i := strings.IndexAny(url, "\u200b\u2060\ufeff"); i >= 0 {
		return url[i:]
	}
	words := strings.Fields(url)
	for _, word := range words[min(1, len(words)):] {
		scheme, _, ok := strings.Cut(strings.ToLower(word), "://")
		if strings.HasPrefix(word, "#") || ok && (scheme == "http" || scheme == "https" || scheme == "ftp") {
			return word
		}
	}
	return ""
}

// notUTF8 returns an error if a text is in another encoding, as spreadsheets save umlauts. What replaced them in titles
// and in the descriptions of URLs would be noticed by nobody.
func notUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("expected text in UTF-8 or UTF-16; found %.100q: save the list as UTF-8", text)
}

// listLine is what readLine returned.
type listLine struct {
	text string
	err  error // nil or errLongLine
}

// readLine returns the next line without its end. Of a line longer than maxLine it skips the rest and returns
// errLongLine.
func (l *seedList) readLine() (string, error) {
	if len(l.pushed) > 0 {
		line := l.pushed[0]
		l.pushed = l.pushed[1:]
		l.line++
		return line.text, line.err
	}
	var long []byte
	for {
		part, err := l.text.ReadSlice('\n')
		if len(long)+len(part) > maxLine {
			return "", l.skipLine(err)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(long)+len(part) == 0) {
			return "", err
		}
		l.line++
		line := string(append(long, part...))
		return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
	}
}

// skipLine reads to the end of a line. err is that of the read before.
func (l *seedList) skipLine(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.text.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	l.line++
	return errLongLine
}

// unread makes lines the next ones of readLine, before others that were unread.
func (l *seedList) unread(lines ...listLine) {
	l.pushed = slices.Concat(lines, l.pushed)
	l.line -= len(lines)
}

// readText returns the next line that is neither blank nor a comment, without the blanks around it.
func (l *seedList) readText() (string, error) {
	for {
		line, err := l.readLine()
		if err != nil {
			return "", err
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line, nil
		}
	}
}

func (l *seedList) nextLine() (catalog.Seed, error) {
	line, err := l.readText()
	if err != nil {
		return catalog.Seed{}, l.entryError(err)
	}
	return merge(l.defaults, line, "", "", "", ""), nil
}

// entryError makes errLongLine the error of an entry, and returns other errors as they are.
func (l *seedList) entryError(err error) error {
	if errors.Is(err, errLongLine) {
		return &badLine{l.line, err}
	}
	return err
}

func (l *seedList) nextObject() (catalog.Seed, error) {
	line, err := l.readText()
	if err != nil {
		return catalog.Seed{}, l.entryError(err)
	}
	if err := notUTF8(line); err != nil { // JSON would replace it
		return catalog.Seed{}, &badLine{l.line, err}
	}
	var entry struct{ URL, Href, Portal, Dataset, Title, Format string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		return catalog.Seed{}, &badLine{l.line, fmt.Errorf("expected a JSON object such as {\"url\": \"https://...\"}: %w", err)}
	}
	return merge(l.defaults, cmp.Or(entry.URL, entry.Href), entry.Portal, entry.Dataset, entry.Title, entry.Format), nil
}

// readHeader reads the first row of a CSV list.
func (l *seedList) readHeader() error {
	line, err := l.readFirst()
	if err == nil {
		l.unread(listLine{text: line})
		l.comma, _ = commaOf(line)
	}
	header, err := l.readRow(0)
	if err != nil {
		return fmt.Errorf("%s: expected a header with a column url: %w", l.name, err)
	}
	l.columns = map[string]int{}
	for i, h := range header {
		l.columns[strings.ToLower(strings.TrimSpace(h))] = i
	}
	if _, ok := l.columns["url"]; !ok {
		return fmt.Errorf("%s: expected a column url; found %s", l.name, strings.Join(header, ", "))
	}
	l.cells = len(header)
	return nil
}

func (l *seedList) nextRow() (catalog.Seed, error) {
	row, err := l.readRow(l.cells)
	if err != nil {
		return catalog.Seed{}, l.entryError(err)
	}
	cell := func(h string) string {
		if i, ok := l.columns[h]; ok {
			return row[i]
		}
		return ""
	}
	return merge(l.defaults, cell("url"), cell("portal"), cell("dataset"), cell("title"), cell("format")), nil
}

// readRow returns the next row that is not blank, which must have a number of cells if that is not 0. A quoted cell may
// span lines. If a row is bad, only its first line is skipped: a quote that nothing closes does not hide what follows.
func (l *seedList) readRow(cells int) ([]string, error) {
	first, err := l.readFirst()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(first, `"`) { // as most lists have it
		row := strings.Split(first, string(l.comma))
		if cells > 0 && len(row) != cells {
			return nil, &badLine{l.line, csv.ErrFieldCount}
		}
		return row, nil
	}
	at, text := l.line, []byte(first)
	var more []listLine
	for open := strings.Count(first, `"`)%2 == 1; open; {
		line, err := l.readLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, err
		}
		more = append(more, listLine{line, err})
		if err != nil || len(text)+len(line) >= maxLine {
			break
		}
		text = append(append(text, '\n'), line...)
		open = strings.Count(line, `"`)%2 == 0
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = l.comma, cells
	row, err := r.Read()
	if err == nil {
		return row, nil
	}
	l.unread(more...)
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		err = wrong.Err
	}
	return nil, &badLine{at, err}
}

// readFirst returns the next line that is not empty.
func (l *seedList) readFirst() (line string, err error) {
	for line == "" && err == nil {
		line, err = l.readLine()
	}
	return line, err
}

func merge(s catalog.Seed, url, portal, dataset, title, format string) catalog.Seed {
	s.URL = url
	s.Portal, s.Dataset = cmp.Or(portal, s.Portal), cmp.Or(dataset, s.Dataset)
	s.Title, s.Format = cmp.Or(title, s.Title), cmp.Or(format, s.Format)
	return s
}
