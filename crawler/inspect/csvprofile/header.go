package csvprofile

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// headerRows returns the number of records at the start of body that name columns, and why. kinds are the kinds of its
// cells.
func headerRows(body [][]string, kinds [][]kind) (int, string) {
	data := make([][]string, 0, len(body))
	of := make([][]kind, 0, len(body))
	for i, r := range body {
		if !blank(r) {
			data, of = append(data, r), append(of, kinds[i])
		}
	}
	if len(data) == 0 {
		return 0, "no rows"
	}
	head := data[0]
	score, why := headerScore(head, of[0], data[1:], of[1:])
	if score <= 0 {
		return 0, why
	}
	n := 1
	for n < len(data)-1 && n < 16 {
		if !slices.Equal(trimmed(data[n]), trimmed(head)) && !continuesHeader(data[n], data[n-1], of[n], of[n+1:]) {
			break
		}
		n++
	}
	return n, why
}

// continuesHeader reports whether a record below a header is a second header row: no cell is a value of the kind that
// its column has below.
func continuesHeader(row, above []string, kinds []kind, rest [][]kind) bool {
	strong := 0
	spanned := spannedBy(above, row)
	for i, cell := range row {
		k := kinds[i]
		below := columnKind(rest, i)
		word := k == kindText || k == kindBoolean && below != kindBoolean || k == kindNull
		if spanned && k == kindInteger && classify([]byte(strings.TrimSpace(cell))).forms&numYear != 0 {
			word = true
		}
		if !word && k != kindEmpty {
			return false
		}
		if word && below != kindText {
			strong++
		}
	}
	return strong > 0 && strong*2 >= filled(row)
}

// spannedBy reports whether row fills the gaps of the row above, whose names then span several columns.
func spannedBy(above, row []string) bool {
	gaps := 0
	for i := range min(len(above), len(row)) {
		if strings.TrimSpace(above[i]) == "" && i > 0 {
			if strings.TrimSpace(row[i]) == "" {
				return false
			}
			gaps++
		}
	}
	return gaps > 0
}

// columnKind returns the kind of at least four fifths of the cells of column i, kindText if there is none.
func columnKind(rows [][]kind, i int) kind {
	var count [kinds]int
	n := 0
	for _, r := range rows[:min(len(rows), 200)] {
		if i >= len(r) {
			continue
		}
		k := r[i]
		switch k {
		case kindEmpty, kindNull:
			continue
		case kindDecimal, kindDouble:
			k = kindInteger
		}
		count[k]++
		n++
	}
	for k, c := range count {
		if n > 0 && c*5 >= n*4 {
			return kind(k)
		}
	}
	return kindText
}

// headerScore weighs whether head names the columns of rest: it does if the score is positive. kinds are the kinds of
// the cells of head, below those of rest.
func headerScore(head []string, kinds []kind, rest [][]string, below [][]kind) (float64, string) {
	texts, values, empties := 0, 0, 0
	seen := map[string]bool{}
	repeated := 0
	for i, cell := range head {
		s := strings.TrimSpace(cell)
		switch k := kinds[i]; {
		case k == kindEmpty:
			if anyBelow(rest, i) && filled(head[i:]) > 0 {
				empties++
			}
		case k == kindText || k == kindNull || k == kindBoolean:
			texts++
		default:
			values++
		}
		if s != "" && seen[s] {
			repeated++
		}
		seen[s] = true
	}
	if len(rest) == 0 {
		if values > texts {
			return -1, "a single row with values"
		}
		return 0.5, "a single row of words"
	}
	score := 0.0
	typed, agree, differ := 0, 0, 0
	for i, cell := range head {
		if strings.TrimSpace(cell) == "" {
			continue
		}
		k := kinds[i]
		common := columnKind(below, i)
		if common == kindText {
			continue
		}
		typed++
		if k == kindDecimal || k == kindDouble {
			k = kindInteger
		}
		if k == common {
			agree++
		} else if k != kindNull {
			differ++
		}
	}
	score += 2*float64(differ) - 2*float64(agree)
	if differ > 0 && agree == 0 {
		return score, "words stand above columns of numbers or dates"
	}
	if agree > 0 && yearsAcross(head) {
		return 2, "years across above columns of numbers"
	}
	if agree > differ {
		return -float64(agree), "the first row has values of the same kinds as the rows below"
	}
	// Only texts: names are short, distinct, not empty and not repeated below. Years among them are names, too.
	if n := yearsAmong(head); values > n && typed == 0 {
		score -= float64(values)
	}
	again := 0
	for i, cell := range head {
		s := strings.TrimSpace(cell)
		for _, r := range rest[:min(len(rest), 200)] {
			if s != "" && i < len(r) && strings.TrimSpace(r[i]) == s && !repeats(r, head) {
				again++
				break
			}
		}
	}
	named := 0
	for _, cell := range head {
		if looksLikeName(cell) {
			named++
		}
	}
	words := float64(max(filled(head), 1))
	score += 0.6 + (float64(named)-4*float64(again))/words - 0.5*float64(repeated) - 0.5*float64(empties)
	if score > 0 {
		return score, "the first row has distinct words that do not come again"
	}
	return score, "the first row looks like the rows below"
}

// repeats reports whether a row repeats the header, as in a file with several tables.
func repeats(row, head []string) bool {
	same := 0
	for i, c := range head {
		if c = strings.TrimSpace(c); c != "" && i < len(row) && strings.TrimSpace(row[i]) == c {
			same++
		}
	}
	return same >= 2 && same*2 >= filled(head)
}

func trimmed(row []string) []string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = strings.TrimSpace(c)
	}
	return out
}

// anyBelow reports whether column i has a cell with a value.
func anyBelow(rows [][]string, i int) bool {
	for _, r := range rows[:min(len(rows), 200)] {
		if i < len(r) && strings.TrimSpace(r[i]) != "" {
			return true
		}
	}
	return false
}

// yearsAcross reports whether a row is a word followed by years in steps of one size, or in order.
func yearsAcross(head []string) bool {
	var years []int
	for i, c := range head {
		c = strings.TrimSpace(c)
		if len(c) == 4 && c >= "1500" && c < "2200" && kindOf(c) == kindInteger {
			y, _ := strconv.Atoi(c)
			years = append(years, y)
		} else if k := kindOf(c); k != kindText && k != kindEmpty || i == len(head)-1 && len(years) == 0 {
			return false
		}
	}
	if len(years) < 2 || len(years) == len(head) && len(years) < 4 {
		return false
	}
	even, ascending, descending := true, true, true
	for i := 1; i < len(years); i++ {
		step := years[i] - years[i-1]
		even = even && step == years[1]-years[0]
		ascending, descending = ascending && step > 0, descending && step < 0
	}
	if !ascending && !descending {
		return false
	}
	// Years with gaps between them must follow a name.
	return even || len(years) >= 3 && len(years) < len(head) && kindOf(strings.TrimSpace(head[0])) == kindText
}

// yearsAmong returns how many cells of a row are years, if there are at least three and they are in order: 2010, 2010
// from, 2010 to, 2011 and so on; else 0.
func yearsAmong(head []string) int {
	n, last := 0, ""
	for _, c := range head {
		c = strings.TrimSpace(c)
		if len(c) != 4 || c < "1500" || c >= "2200" || kindOf(c) != kindInteger {
			continue
		}
		if c <= last {
			return 0
		}
		n, last = n+1, c
	}
	if n < 3 {
		return 0
	}
	return n
}

// looksLikeName reports whether a cell could be the name of a column.
func looksLikeName(cell string) bool {
	s := strings.TrimSpace(cell)
	if s == "" || len(s) > 80 {
		return false
	}
	low := strings.ToLower(s)
	if strings.ContainsAny(s, "_") || isColumnWord(low) {
		return true
	}
	for _, w := range strings.FieldsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if isColumnWord(w) {
			return true
		}
	}
	return false
}

// isColumnWord reports whether a word is often part of a header.
func isColumnWord(w string) bool {
	switch w {
	case "id", "name", "title", "date", "type", "code", "number", "no", "nr", "url", "email", "address", "city", "country", "state", "year",
		"month", "day", "time", "value", "count", "total", "amount", "price", "description", "category", "status", "lat", "lon", "lng",
		"latitude",
		"longitude", "first", "last", "phone", "zip", "key", "label", "text", "comment", "comments", "notes", "region", "age", "sex",
		"gender",
		"datum", "jahr", "bezeichnung", "anzahl", "wert", "ort", "plz", "nom", "fecha", "nombre", "data", "nome", "user", "username",
		"file",
		"version", "start", "end", "from", "to", "size", "unit", "units", "rank", "score", "group", "class", "level", "source", "language",
		"author", "subject", "reference", "department", "organisation", "organization", "owner", "position", "role", "index", "order",
		"quantity":
		return true
	}
	return false
}
