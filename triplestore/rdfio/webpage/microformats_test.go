package webpage_test

import (
	"errors"
	"strings"
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
)

// microformats are pages and their statements, where a is rdf:type, mf: the profiles and xsd: the datatypes.
var microformats = []struct{ name, page, want string }{
	{"an entry with its author", `<html lang="en"><base href="/blog/"><article class="h-entry"><h1 class="p-name">Stops <i>moved</i></h1>
<a class="u-url" href="1?a=b"><time class="dt-published" datetime="2026-11-21 10:30+0100">Saturday</time></a>
<time class="dt-updated">2026-11-22</time><a class="p-author h-card" href="https://city.example/">City</a>
<div class="e-content" lang="de"><p>Alle<script>x</script> Halte</p></div><a class="u-email" href="mailto:a@city.example">x</a></article>`,
		`_:p.f-1 a mf:h-entry
_:p.f-1 mf:h-entry#name "Stops moved"@en
_:p.f-1 mf:h-entry#url <http://example.org/blog/1?a=b>
_:p.f-1 mf:h-entry#published "2026-11-21T10:30:00+01:00"^^xsd:dateTime
_:p.f-1 mf:h-entry#updated "2026-11-22"^^xsd:date
_:p.f-2 a mf:h-card
_:p.f-2 mf:h-card#name "City"@en
_:p.f-2 mf:h-card#url <https://city.example/>
_:p.f-1 mf:h-entry#author _:p.f-2
_:p.f-1 mf:h-entry#content "Alle Halte"@de
_:p.f-1 mf:h-entry#email <mailto:a@city.example>`},
	{"classes of style sheets",
		`<div class="h-4 p-2 h-full w-full"><p class="p-4 e-2 h-screen p-name h-auto">x</p><i class="h-x-own u-url">y</i></div>`, ``},
	{"classes of style sheets in an item", `<div class="h-item p-4 h-full"><p class="p-px p-md-3 p-0 p-[3px] P-name p-name">x</p></div>`,
		`_:p.f-1 a mf:h-item
_:p.f-1 mf:h-item#name "x"`},
	{
		"children",
		`<div class="h-feed"><p class="p-name">News</p><div class="h-entry"><b class="p-name">A</b></div><div class="h-entry ` +
			`h-news">B</div></div>`,
		`_:p.f-1 a mf:h-feed
_:p.f-1 mf:h-feed#name "News"
_:p.f-2 a mf:h-entry
_:p.f-2 mf:h-entry#name "A"
_:p.f-1 mf:h-feed#children _:p.f-2
_:p.f-3 a mf:h-entry
_:p.f-3 a mf:h-news
_:p.f-3 mf:h-entry#name "B"
_:p.f-1 mf:h-feed#children _:p.f-3`},
	{"what an only child implies", `<p class="h-card"><a href="/me"><img src="me.jpg" alt="Ada"></a></p>`,
		`_:p.f-1 a mf:h-card
_:p.f-1 mf:h-card#name "Ada"
_:p.f-1 mf:h-card#photo <http://example.org/me.jpg>
_:p.f-1 mf:h-card#url <http://example.org/me>`},
	{"nothing is implied beside others",
		`<p class="h-card"><i class="p-org">ACME</i><a class="u-logo" href="l">l</a><a href="/me">me</a></p>`,
		`_:p.f-1 a mf:h-card
_:p.f-1 mf:h-card#org "ACME"
_:p.f-1 mf:h-card#logo <http://example.org/l>`},
	{"parts of values", `<div class="h-event"><abbr class="p-name" title="Council">C</abbr><p class="dt-start"><b class="value">2026-11-21</b> at <b class="value">7:30pm</b><b class="value">+0100</b></p>
<p class="dt-end"><time class="value" datetime="2026-11-21">Sat</time><i class="value">11 pm</i></p><p class="p-tel"><b class="value">+49</b> (0) <b class="value">30</b></p>
<time class="dt-duration" datetime="PT2H">2 h</time><i class="dt-rev">next week</i><time class="dt-created" datetime="2026-02-31T10:00">x</time></div>`,
		`_:p.f-1 a mf:h-event
_:p.f-1 mf:h-event#name "Council"
_:p.f-1 mf:h-event#start "2026-11-21T19:30:00+01:00"^^xsd:dateTime
_:p.f-1 mf:h-event#end "2026-11-21T23:00:00"^^xsd:dateTime
_:p.f-1 mf:h-event#tel "+4930"
_:p.f-1 mf:h-event#duration "PT2H"^^xsd:duration
_:p.f-1 mf:h-event#rev "next week"
_:p.f-1 mf:h-event#created "2026-02-31T10:00"`},
	{"values of attributes", `<div class="h-product"><data class="p-price" value="3.50">cheap</data><img class="u-photo p-name" src="a b.png" alt="Lamp"><p class="u-uid">sku 1</p>
<a class="u-url" href="javascript:buy()">x</a><video class="u-video" poster="v.png"></video><b class="p-brand"> </b></div>`,
		`_:p.f-1 a mf:h-product
_:p.f-1 mf:h-product#price "3.50"
_:p.f-1 mf:h-product#photo <http://example.org/a%20b.png>
_:p.f-1 mf:h-product#name "Lamp"
_:p.f-1 mf:h-product#uid "sku 1"
_:p.f-1 mf:h-product#url "javascript:buy()"
_:p.f-1 mf:h-product#video <http://example.org/v.png>`},
	{
		"items in items",
		`<div class="h-card"><b class="p-name">City</b><p class="p-adr u-adr h-adr"><i class="p-locality">Leipzig</i><span class="p-geo ` +
			`h-geo"><data class="p-latitude" value="51.3"></data></span></p></div>`,
		`_:p.f-1 a mf:h-card
_:p.f-1 mf:h-card#name "City"
_:p.f-2 a mf:h-adr
_:p.f-2 mf:h-adr#locality "Leipzig"
_:p.f-3 a mf:h-geo
_:p.f-3 mf:h-geo#latitude "51.3"
_:p.f-2 mf:h-adr#geo _:p.f-3
_:p.f-1 mf:h-card#adr _:p.f-2`},
	{"templates and classic ones", `<template><p class="h-card">x</p></template><div class="vcard hentry"><b class="fn">y</b></div>`, ``},
}

func TestMicroformats(t *testing.T) {
	t.Parallel()
	short := strings.NewReplacer("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a", " .\n", "\n")
	for _, c := range microformats {
		page, err := webpage.Read(strings.NewReader(c.page), webpage.Options{Base: "http://example.org/", BlankPrefix: "p."})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var want strings.Builder
		for line := range strings.Lines(c.want) {
			for _, word := range strings.SplitAfter(strings.TrimSuffix(line, "\n"), " ") {
				word, space := strings.CutSuffix(word, " ")
				if name, ok := strings.CutPrefix(word, "mf:"); ok {
					word = "<http://microformats.org/profile/" + name + ">"
				} else if value, name, ok := strings.Cut(word, "^^xsd:"); ok {
					word = value + "^^<http://www.w3.org/2001/XMLSchema#" + name + ">"
				}
				want.WriteString(word)
				if space {
					want.WriteByte(' ')
				}
			}
			want.WriteByte('\n')
		}
		if got := short.Replace(nquads(t, page.Microformats)); got != want.String() {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, want.String())
		}
		if got := nquads(t, page.All()); len(page.Microdata)+len(page.RDFa) == 0 && got != nquads(t, page.Microformats) {
			t.Errorf("%s: all statements are\n%s", c.name, got)
		}
	}
}

func TestMicroformatsThatRepeatTheirTextAreRefused(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"nested text":   strings.Repeat("<div class='h-item'><div class='p-name'>", 200) + strings.Repeat("x", 1<<20),
		"nested spaces": "<div class=h-item>" + strings.Repeat("<div class='p-name'>", 400) + strings.Repeat(" ", 1<<20),
		"many names":    "<div class=h-item><p class='" + names(1000) + "'>" + strings.Repeat("x", 1<<20),
	} {
		if _, err := webpage.Read(strings.NewReader(page), webpage.Options{Base: "http://example.org/"}); !errors.Is(err, rdfio.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// names returns n different classes of properties.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" p-a" + strings.Repeat("b", i))
	}
	return b.String()
}
