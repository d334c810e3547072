package csvprofile

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// identifiers are words that say that a column has identifiers of what its other words name.
var identifiers = map[string]bool{"id": true, "ids": true, "key": true, "code": true, "no": true, "nr": true, "num": true, "number": true,
	"uid": true, "uuid": true,
	"guid": true, "ref": true, "pk": true, "fk": true, "nummer": true, "kennung": true, "schluessel": true, "schlüssel": true, "cod": true,
	"codigo": true, "código": true,
	"codice": true, "kode": true, "kod": true, "identifier": true, "abbreviation": true}

// noThings are words of names of tables that say nothing of what the rows are.
var noThings = map[string]bool{"data": true, "dataset": true, "table": true, "list": true, "sheet": true, "tbl": true, "export": true,
	"dim": true, "the": true, "all": true}

// split returns the words of a column's name without those for an identifier, and whether there were such.
func split(column string) (about []string, identifies bool) {
	for _, w := range keyWords(column) {
		switch {
		case identifiers[w]:
			identifies = true
		default:
			about = append(about, w)
		}
	}
	return about, identifies
}

// joined returns words as one, without an ending for the plural.
func joined(words []string) string {
	w := slices.Clone(words)
	w[len(w)-1] = singular(w[len(w)-1])
	return strings.Join(w, "")
}

// thingOf returns what a row of a table may be called after the table's name, "" if nothing.
func thingOf(t KeyTable) string {
	all := tableWords(t)
	if len(all) == 0 {
		return ""
	}
	return joined(all)
}

// tableWords returns the words of a table's name that say what it is about.
func tableWords(t KeyTable) (list []string) {
	name := t.Profile.Name
	if name == "" {
		name = strings.TrimSuffix(path.Base(t.Member), path.Ext(t.Member))
	}
	for _, w := range keyWords(name) {
		if !noThings[w] && !identifiers[w] && !strings.ContainsFunc(w, unicode.IsDigit) {
			list = append(list, w)
		}
	}
	if len(list) == 1 && list[0] == "calendar" { // of services, in the feeds of public transport (GTFS)
		list[0] = "service"
	}
	return list
}

// related reports whether a column's name has a word of its table's name, or the beginning of one.
func related(about []string, t KeyTable) bool {
	for _, w := range tableWords(t) {
		for _, a := range about {
			if singular(a) == singular(w) || len(a) >= 5 && strings.HasPrefix(w, a) {
				return true
			}
		}
	}
	return false
}

// singular removes the ending of an English plural.
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") &&
		len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}

// keyWords returns the words of a name in lower case: "CustomerID" and "customer_id" are both customer and id.
func keyWords(name string) (list []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	all := []rune(name)
	for i, r := range all {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(all[i-1]) || i+1 < len(all) && unicode.IsLower(all[i+1]) && unicode.IsUpper(all[i-1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return list
}
