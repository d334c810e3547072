package csvprofile

import (
	"slices"
	"strings"
	"unicode"
)

// Columns of people's names. They are a warning to whoever runs an archive, so that a column is called one only if its
// name or most of its values say so: titles of works, streets and ships are full of names, too.

// personal reports whether values of a class identify people, or reach them: names, addresses of mail, numbers of
// telephones and accounts.
func personal(class string) bool {
	switch class {
	case classPersonName, classEmail, classPhone, classIBAN, classORCID:
		return true
	}
	return false
}

var (
	// partWords name columns of one part of a person's name.
	partWords = []string{"firstname", "lastname", "surname", "forename", "givenname", "givennames", "familyname", "middlename", "vorname",
		"vornamen", "nachname",
		"familienname", "zuname", "prénom", "prenom", "prénoms", "cognome", "apellido", "apellidos", "apellido1", "apellido2",
		"primerapellido", "voornaam", "achternaam",
		"nazwisko", "imię", "příjmení", "efternavn", "fornavn", "etternavn", "förnamn", "efternamn", "sukunimi", "etunimi", "namefirst",
		"namelast", "fname", "lname"}
	// wholeWords name columns of people; others may have such names, too.
	wholeWords = []string{"name", "fullname", "person", "author", "authors", "autor", "auteur", "autore", "candidate", "kandidat",
		"candidat", "candidato", "player", "contact",
		"contactname", "ansprechpartner", "director", "regisseur", "employee", "mitarbeiter", "member", "mitglied", "representative",
		"senator", "politician", "artist",
		"composer", "actor", "owner", "teacher", "patient", "customer", "customername", "chair", "president", "minister", "judge",
		"officer", "artiste", "nom", "nombre", "nome",
		"displayname", "playername", "host", "guest", "winner", "coach", "manager", "principal", "interviewer", "editor", "maintainer",
		"people", "athlete", "driver", "rider"}
)

// isPersonal reports whether a column has names of people.
func isPersonal(named func(...string) bool, values samples) bool {
	if named(partWords...) {
		return values.mostly(0.8, isNamePart)
	}
	if named("first", "given") && len(values) >= 3 && values.mostly(0.5, beginsWithGivenName) {
		return values.mostly(0.8, isNamePart)
	}
	if !values.mostly(0.7, isFullName) {
		return false
	}
	share := 0.75
	if named(wholeWords...) {
		share = 0.4
	}
	return len(values) >= 3 && values.mostly(share, beginsWithGivenName)
}

// isNamePart reports whether s may be a given name or a family name.
func isNamePart(s string) bool {
	letters := 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case strings.ContainsRune(" -'’.,", r):
		default:
			return false
		}
	}
	return letters > 0 && letters <= 40 && strings.Count(s, " ") <= 3
}

// isFullName reports whether s has the form of a given name and a family name: two to four words, each with a capital.
func isFullName(s string) bool {
	if len(s) > 60 {
		return false
	}
	words := strings.Fields(s)
	if len(words) < 2 || len(words) > 5 {
		return false
	}
	for _, w := range words {
		if !isNamePart(w) {
			return false
		}
		first := []rune(w)[0]
		if !unicode.IsUpper(first) && unicode.IsLower(first) && !slices.Contains(particles, w) {
			return false
		}
	}
	return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(noNames, strings.ToLower(strings.Trim(w, ".,"))) })
}

// particles are words of names that are written small.
var particles = []string{"von", "van", "de", "der", "den", "di", "da", "del", "della", "du", "la", "le", "dos", "das", "do", "zu", "zur",
	"ten", "ter", "y", "e", "bin", "al", "el", "af", "av"}

// noNames are words that names of things have, and names of people do not.
var noNames = []string{"street", "st", "avenue", "ave", "road", "rd", "school", "university", "college", "hospital", "church", "park",
	"house", "company", "inc", "ltd", "gmbh", "county",
	"city", "river", "lake", "island", "airport", "hotel", "museum", "foundation", "institute", "and", "of", "the", "strasse", "straße",
	"platz", "gasse", "schule", "rue", "calle", "via",
	"international", "national", "center", "centre", "bay", "beach", "hill", "point", "creek", "fort", "port", "mountain", "valley",
	"falls", "springs", "memorial", "elementary", "high",
	"club", "team", "state", "award", "prize", "show", "day", "law", "act", "bridge", "station", "stadium", "field", "group", "bank",
	"court", "square", "und", "et", "in", "on", "for", "with", "to"}

// beginsWithGivenName reports whether a full name, or one with the family name first ("Huber, Anna"), has a common
// given name where it belongs.
func beginsWithGivenName(s string) bool {
	if _, after, ok := strings.Cut(s, ","); ok {
		s = after
	}
	words := strings.Fields(s)
	for len(words) > 0 && IsHonorific(words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && IsGivenName(words[0])
}
