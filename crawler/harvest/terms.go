package harvest

import (
	"fmt"
	"regexp"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// Functions in this file make terms of what sources write, and nothing invalid: an address becomes an IRI, repaired if
// the repair is obvious, else a literal; a valid date gets a datatype; text is UTF-8 without control characters.

// plain returns text without characters that a literal must not hold.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s))
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)

// tagged returns a literal with its language, or without one if the tag is not valid BCP 47. "de_CH" is read as
// "de-CH".
func tagged(t Text) term.Key {
	tag := strings.ReplaceAll(strings.TrimSpace(t.Lang), "_", "-")
	if !languageTag.MatchString(tag) {
		tag = ""
	}
	return term.Lang(plain(t.Value), tag)
}

// schemes matches addresses worth repairing. Other words before a colon may not be schemes.
var schemes = regexp.MustCompile(`^(?i:https?|ftps?|sftp|urn|doi|mailto|tel|info|tag|ark|hdl|file|geo|gsiftp|git|s3):.`)

// AsIRI returns an address of a source as an IRI, false if it is not an absolute one. It trims the address, removes
// user and password and, if the scheme is a usual one, percent-encodes characters that IRIs exclude.
func AsIRI(s string) (string, bool) {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	s, _ = address.WithoutSecret(s) // so that equal addresses get equal IRIs, and none publishes a password
	if iri.Check(s) == nil && len(s) < maxIRI {
		scheme, rest, _ := strings.Cut(s, ":")
		return s, rest != "" && (len(scheme) > 1 || schemes.MatchString(s))
	}
	if !schemes.MatchString(s) {
		return "", false
	}
	var b strings.Builder
	for _, r := range s {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("<>\"{}|\\^`", r) {
			fmt.Fprintf(&b, "%%%02X", r)
			continue
		}
		b.WriteRune(r)
	}
	s = b.String()
	return s, len(s) < maxIRI && iri.Check(s) == nil
}

// maxIRI is the maximum length of an IRI. Longer ones usually hold data.
const maxIRI = 8 << 10

// thing returns an IRI if s is one, else a literal.
func thing(s string) term.Key {
	if address, ok := AsIRI(s); ok && !strings.ContainsAny(strings.TrimSpace(s), " \n") {
		return term.IRI(address)
	}
	return term.String(plain(s))
}

// spaced matches "2020-01-02 03:04:05" and zones like "+0100", for which XSD requires a T and a colon.
var (
	spaced  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)? ?(Z|z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d)?$`)
	zoned   = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)?([+-]\d\d)(\d\d)?$`)
	dotted  = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})$`)
	slashed = regexp.MustCompile(`^(\d{4})/(\d{1,2})/(\d{1,2})$`)
)

// date returns a literal of type xsd:dateTime, xsd:date, xsd:gYearMonth or xsd:gYear if s is unambiguously one, else a
// string.
func date(s string) term.Key {
	s = plain(s)
	lexical := s
	if m := spaced.FindStringSubmatch(s); m != nil {
		lexical = m[1] + "T" + m[2] + seconds(m[3]) + zone(m[4])
	} else if m := zoned.FindStringSubmatch(s); m != nil {
		lexical = m[1] + "T" + m[2] + seconds(m[3]) + zone(m[4]+m[5])
	} else if m := dotted.FindStringSubmatch(s); m != nil {
		lexical = fmt.Sprintf("%s-%02s-%02s", m[3], m[2], m[1])
	} else if m := slashed.FindStringSubmatch(s); m != nil {
		lexical = fmt.Sprintf("%s-%02s-%02s", m[1], m[2], m[3])
	}
	for _, datatype := range []string{vocab.XSDDateTime, vocab.XSDDate, vocab.XSDGYearMonth, vocab.XSDGYear} {
		if _, ok := xsdval.Parse(lexical, datatype); ok {
			return term.Typed(lexical, datatype)
		}
	}
	return term.String(s)
}

func seconds(s string) string {
	if s == "" {
		return ":00"
	}
	return strings.ReplaceAll(s, ",", ".")
}

func zone(s string) string {
	switch {
	case s == "":
		return ""
	case s[0] != '+' && s[0] != '-':
		return "Z"
	case len(s) == 3:
		return s + ":00"
	case len(s) == 5:
		return s[:3] + ":" + s[3:]
	}
	return s
}
