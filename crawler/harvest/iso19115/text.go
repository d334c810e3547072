package iso19115

import (
	"cmp"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"

	"golang.org/x/text/language"
)

// languages reads the language of the record and those of its locales.
func (r *reader) languages() {
	r.main = tag(cmp.Or(code(r.root.First("language")), plain(r.root.First("language")), code(r.root.First("defaultLocale/*/language"))))
	r.locales = map[string]string{}
	for _, e := range append(r.root.All("locale/*"), r.root.All("otherLocale/*")...) {
		r.locales[e.Attr("id")] = tag(cmp.Or(code(e.First("languageCode")), code(e.First("language"))))
	}
}

// tag returns the tag of a language with a code of two or three letters, including those of ISO 639-2/B.
func tag(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ";")
	if bibliographic := map[string]string{"ger": "de", "fre": "fr", "dut": "nl", "cze": "cs", "slo": "sk", "gre": "el", "rum": "ro",
		"ice": "is", "alb": "sq", "arm": "hy",
		"baq": "eu", "geo": "ka", "mac": "mk", "may": "ms", "per": "fa", "wel": "cy", "chi": "zh", "bur": "my", "mao": "mi",
		"tib": "bo"}[name]; bibliographic != "" {
		return bibliographic
	}
	base, err := language.ParseBase(name)
	if err != nil {
		return ""
	}
	return base.String()
}

// plain returns the text of a property, which is in gco:CharacterString, gmx:Anchor or a similar element, or in the
// property itself.
func plain(e *loose.Element) string {
	if e == nil {
		return ""
	}
	for _, c := range e.Children {
		switch c.Name.Local {
		case "PT_FreeText", "PT_FreeURL":
		default:
			if text := c.Text(); text != "" && len(c.Children) == 0 {
				return text
			}
		}
	}
	return e.Text()
}

// texts returns the text of a property in all its languages.
func (r *reader) texts(e *loose.Element) []harvest.Text {
	var all []harvest.Text
	own := plain(e)
	for _, c := range e.All("PT_FreeText/textGroup/LocalisedCharacterString") {
		if text := c.Text(); text != "" {
			all = append(all, harvest.Text{Value: text, Lang: r.locale(c)})
		}
	}
	if own != "" && !slices.ContainsFunc(all, func(t harvest.Text) bool { return t.Value == own }) {
		all = append([]harvest.Text{{Value: own, Lang: r.main}}, all...)
	}
	return all
}

// locale returns the language of a text by its locale, like "#DE". The name of an undeclared locale may be a language.
func (r *reader) locale(e *loose.Element) string {
	name := strings.TrimPrefix(e.Attr("locale"), "#")
	name = strings.TrimPrefix(name, "locale-")
	if lang, ok := r.locales[name]; ok {
		return lang
	}
	return tag(name)
}

// line returns the text of a property in the record's language, or else in any.
func line(e *loose.Element) string {
	if own := plain(e); own != "" {
		return own
	}
	for _, c := range e.All("PT_FreeText/textGroup/LocalisedCharacterString") {
		if text := c.Text(); text != "" {
			return text
		}
	}
	return ""
}

// leaf returns the first text at or below an element. Dates are in gco:Date, gco:DateTime or the property itself.
func leaf(e *loose.Element) string {
	if e == nil {
		return ""
	}
	if text := e.Text(); text != "" {
		return text
	}
	for _, c := range e.Children {
		if text := leaf(c); text != "" {
			return text
		}
	}
	return ""
}

// code returns the value of a code list element.
func code(e *loose.Element) string {
	if e == nil || len(e.Children) == 0 {
		return ""
	}
	value := cmp.Or(e.Children[0].Attr("codeListValue"), e.Children[0].Text())
	return value[strings.LastIndexAny(value, "/#")+1:]
}

// link returns the address in a gmx:Anchor, or the text of a property if it is an address.
func link(e *loose.Element) string {
	if e == nil {
		return ""
	}
	for _, c := range e.Children {
		for _, address := range []string{c.Attr("href"), c.Text()} {
			if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
				if !strings.ContainsAny(address, " \n\t") {
					return address
				}
			}
		}
	}
	return ""
}

// dateOf returns the latest of the CI_Date elements of a type.
func dateOf(dates []*loose.Element, kind string) string {
	newest := ""
	for _, e := range dates {
		if code(e.First("dateType")) == kind {
			newest = max(newest, leaf(e.First("date")))
		}
	}
	return newest
}
