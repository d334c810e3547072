package harvest

import (
	"fmt"
	"regexp"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab/xsd"
)

// What strangers write becomes terms here, and nothing invalid does: an address is an IRI, repaired where that is plain,
// or it stays text; a date is typed where it is one; text is UTF-8 without control characters.

// plain is text as a literal may hold it.
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

// tagged is a literal with its language, without one where the tag is none (BCP 47; "de_CH" is read as "de-CH").
func tagged(t Text) term.Key {
	tag := strings.ReplaceAll(strings.TrimSpace(t.Lang), "_", "-")
	if !languageTag.MatchString(tag) {
		tag = ""
	}
	return term.Lang(plain(t.Value), tag)
}

// schemes of addresses that are worth repairing, and that a word before a colon is not mistaken for.
var schemes = regexp.MustCompile(`^(?i:https?|ftps?|sftp|urn|doi|mailto|tel|info|tag|ark|hdl|file|geo|gsiftp|git|s3):.`)

// AsIRI makes an IRI of what a source gives as one: trimmed, and with the characters that no IRI holds percent-encoded
// where its scheme is a usual one. Users and passwords are taken out of addresses. False where it is no absolute IRI.
func AsIRI(s string) (string, bool) {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	s, _ = address.WithoutSecret(s) // the same name wherever it stands, and one that can be public
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

// maxIRI is how long an IRI may be; what is longer is data in disguise.
const maxIRI = 8 << 10

// thing is an IRI where s is one, else text.
func thing(s string) term.Key {
	if address, ok := AsIRI(s); ok && !strings.ContainsAny(strings.TrimSpace(s), " \n") {
		return term.IRI(address)
	}
	return term.String(plain(s))
}

// spaced matches "2020-01-02 03:04:05", zone "+0100" and the like: XSD wants a T and a colon.
var (
	spaced  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)? ?(Z|z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d)?$`)
	zoned   = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)?([+-]\d\d)(\d\d)?$`)
	dotted  = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4})$`)
	slashed = regexp.MustCompile(`^(\d{4})/(\d{1,2})/(\d{1,2})$`)
)

// date is a literal of xsd:dateTime, xsd:date, xsd:gYearMonth or xsd:gYear where s is one, in spellings that leave no
// doubt; else it is text as declared.
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
	for _, datatype := range []string{xsd.DateTime, xsd.Date, xsd.GYearMonth, xsd.GYear} {
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
