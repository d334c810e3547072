package hdt

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// A dictionary spells IRIs without brackets, blank nodes as "_:label", and literals as in N-Triples but without
// escapes: the last quotation mark of a literal ends its lexical form. Sections are sorted by the bytes of the
// spellings.

// appendSpelling appends the spelling of a term. It returns a *rdfio.TermError for terms that HDT cannot express.
func appendSpelling(b []byte, k term.Key) ([]byte, error) {
	from := len(b)
	switch k.Kind() {
	case term.KindIRI:
		b = append(b, k[1:]...)
	case term.KindBlank:
		b = append(append(b, "_:"...), rdfio.BlankLabel(string(k[1:]))...)
	case term.KindLiteral:
		b = append(append(append(b, '"'), k.Value()...), '"')
		switch k[0] {
		case '@':
			tag, _, _ := strings.Cut(string(k[1:]), "\x00")
			b = append(append(b, '@'), tag...)
		case '^':
			b = append(append(append(b, "^^<"...), k.Datatype()...), '>')
		}
	default:
		return b, &rdfio.TermError{Term: k, Reason: "HDT holds no triple terms"}
	}
	if bytes.IndexByte(b[from:], 0) >= 0 {
		return b[:from], &rdfio.TermError{Term: k, Reason: "HDT holds no terms with the character U+0000"}
	}
	return b, nil
}

// checkSpelled returns a *rdfio.TermError if a term is not valid. A Writer refuses such terms because a Reader would.
func checkSpelled(k term.Key) error {
	reason := ""
	switch k.Kind() {
	case term.KindIRI:
		if err := iri.Check(k.Value()); err != nil {
			reason = err.Error()
		}
	case term.KindLiteral:
		switch {
		case !utf8.ValidString(string(k)):
			reason = "not UTF-8"
		case k[0] == '@' && terminals.LangTag(k.Lang()) != len(k.Lang()):
			reason = "not a language tag"
		case k[0] == '^':
			if err := iri.Check(k.Datatype()); err != nil {
				reason = err.Error()
			}
		}
	}
	if reason != "" {
		return &rdfio.TermError{Term: k, Reason: reason}
	}
	return nil
}

// parse returns the term with a spelling. blank is put before the labels of blank nodes. Errors are *BadTermError.
func parse(b []byte, blank string) (term.Key, error) {
	switch {
	case len(b) == 0:
		return "", badTerm(b, "an empty term")
	case bytes.HasPrefix(b, []byte("_:")):
		if len(b) == 2 || !utf8.Valid(b) {
			return "", badTerm(b, "not a blank node")
		}
		return term.Key("_" + blank + string(b[2:])), nil
	case b[0] != '"':
		if b[0] == '<' && b[len(b)-1] == '>' { // some writers keep the brackets
			b = b[1 : len(b)-1]
		}
		k := term.IRI(string(b))
		if err := iri.CheckChars(b); err != nil {
			return "", badTerm(b, err.Error())
		}
		if err := iri.Check(string(b)); err != nil {
			return "", badTerm(b, err.Error())
		}
		return k, nil
	}
	end := bytes.LastIndexByte(b, '"')
	if end == 0 {
		return "", badTerm(b, "a literal without its end")
	}
	if !utf8.Valid(b) {
		return "", badTerm(b, "not UTF-8")
	}
	lex, rest := string(b[1:end]), string(b[end+1:])
	var k term.Key
	switch {
	case rest == "":
		k = term.String(lex)
	case rest[0] == '@' && len(rest) > 1:
		k = term.Lang(lex, rest[1:])
	case strings.HasPrefix(rest, "^^<") && strings.HasSuffix(rest, ">") && len(rest) > 4:
		k = term.Typed(lex, rest[3:len(rest)-1])
	default:
		return "", badTerm(b, "a literal that is not followed by a language or a datatype")
	}
	if err := checkSpelled(k); err != nil {
		return "", badTerm(b, err.(*rdfio.TermError).Reason)
	}
	return k, nil
}

func badTerm(b []byte, reason string) error {
	return &BadTermError{Spelling: quoted(string(b)), Reason: reason}
}

// BadTermError is the error of Reader.Read about a triple with a string of the dictionary that is not an RDF term.
// Reader.Skip skips the triple.
type BadTermError struct {
	Spelling string // shortened and quoted
	Reason   string
	Triple   uint64 // number of the triple that uses it, from 1
}

func (e *BadTermError) Error() string {
	s := "hdt: "
	if e.Triple > 0 {
		s += "triple " + utoa(e.Triple) + ": "
	}
	return s + "the term " + e.Spelling + " is not valid: " + e.Reason
}
