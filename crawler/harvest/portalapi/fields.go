package portalapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"

	"golang.org/x/net/html"
)

// Unfold parses a list or object written as a string, such as extras of CKAN. It returns other values unchanged.
func Unfold(v loose.Value) loose.Value {
	t := v.Text()
	if len(t) < 2 || (t[0] != '[' && t[0] != '{') {
		return v
	}
	if inner, err := loose.Parse([]byte(t)); err == nil {
		return inner
	}
	return v
}

// Texts returns the texts of a field: plain ("x"), by language ({"de": "x", "fr": "y"}), or a list of both. A language
// may have a list of texts.
func Texts(v loose.Value) []harvest.Text {
	var texts []harvest.Text
	for _, e := range Unfold(v).List() {
		if !e.IsObject() {
			texts = appendText(texts, e.Text(), "")
			continue
		}
		if lang := e.First("@language", "lang", "language").Text(); lang != "" { // {"@value": "x", "@language": "de"}
			texts = appendText(texts, e.First("@value", "value", "title", "name").Text(), lang)
			continue
		}
		if named := e.First("@value", "display_name", "title", "name", "label", "prefLabel", "value", "subject"); !named.Empty() {
			for _, t := range Texts(named) {
				texts = appendText(texts, t.Value, t.Lang)
			}
			continue
		}
		for lang, m := range e.Members() {
			if tag, ok := language(lang); ok {
				for _, t := range m.Texts() {
					texts = appendText(texts, t, tag)
				}
			}
		}
	}
	return texts
}

// TextsIn is Texts for a field whose language is declared elsewhere.
func TextsIn(lang string, v loose.Value) []harvest.Text {
	texts := Texts(v)
	for i := range texts {
		texts[i].Lang = cmp.Or(texts[i].Lang, lang)
	}
	return texts
}

func appendText(texts []harvest.Text, value, lang string) []harvest.Text {
	t := harvest.Text{Value: Plain(value), Lang: strings.ReplaceAll(lang, "_", "-")}
	if t.Value == "" || slices.Contains(texts, t) {
		return texts
	}
	return append(texts, t)
}

// language returns the language that a member's name means: "de", "pt_BR". Canada marks machine translations as
// "fr-t-en".
func language(name string) (string, bool) {
	tag := strings.ReplaceAll(name, "_", "-")
	if main, _, found := strings.Cut(tag, "-t-"); found {
		tag = main
	}
	main, region, _ := strings.Cut(tag, "-")
	if len(main) < 2 || len(main) > 3 || len(region) > 8 || strings.IndexFunc(main, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return "", false
	}
	return tag, true
}

// Words returns the distinct texts of a list of texts or named things.
func Words(v loose.Value) []string {
	var words []string
	for _, t := range Texts(v) {
		if !slices.Contains(words, t.Value) {
			words = append(words, t.Value)
		}
	}
	return words
}

// Links returns the distinct addresses of a list of addresses, of objects with an address, or of words.
func Links(v loose.Value) []string {
	var links []string
	for _, e := range Unfold(v).List() {
		t := Link(e)
		if t == "" && e.IsObject() {
			t = strings.Join(Words(e), " ")
		}
		if t != "" && !slices.Contains(links, t) {
			links = append(links, t)
		}
	}
	return links
}

// Link returns a scalar, or the identifying member of an object.
func Link(v loose.Value) string {
	if t := v.Text(); t != "" || !v.IsObject() {
		return t
	}
	return v.First("@id", "uri", "url", "href", "id").Text()
}

// Agent returns an agent: a name, an object that describes an organisation, person or contact, or the first of a list
// of those.
func Agent(v loose.Value) harvest.Agent {
	v = Unfold(v)
	if list := v.List(); len(list) > 1 {
		v = list[0]
	}
	if t := v.Text(); t != "" {
		if IsLink(t) {
			return harvest.Agent{IRI: t}
		}
		if strings.Contains(t, "@") && !strings.ContainsAny(t, " \n") {
			return harvest.Agent{Email: Email(t)}
		}
		return harvest.Agent{Name: Plain(t)}
	}
	a := harvest.Agent{
		IRI:   OnlyLink(v.First("@id", "uri", "identifier", "nameIdentifier").Text()),
		Name:  harvest.FirstText(Texts(v.First("name", "fn", "prefLabel", "title", "display_name", "creatorName"))),
		Email: Email(v.First("email", "hasEmail", "mbox", "contact_email").Text()),
		URL:   v.First("url", "hasURL", "homepage", "page", "contact_site").Text(),
		Type:  v.First("@type", "type").Text(),
	}
	if a.Email == "" {
		a.Email = Email(Link(v.Get("hasEmail")))
	}
	return a
}

// Agents returns the agents of a list.
func Agents(v loose.Value) []harvest.Agent {
	var agents []harvest.Agent
	for _, e := range Unfold(v).List() {
		if a := Agent(e); a != (harvest.Agent{}) {
			agents = append(agents, a)
		}
	}
	return agents
}

// Email returns a mail address without its scheme.
func Email(s string) string {
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	return strings.TrimSpace(s)
}

// IsLink reports whether s is an http or https address.
func IsLink(s string) bool {
	return (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")) && !strings.ContainsAny(s, " \t\r\n<>\"")
}

// OnlyLink returns s if it is a link, else "".
func OnlyLink(s string) string {
	if IsLink(s) {
		return s
	}
	return ""
}

// ORCID returns the IRI of an ORCID iD, which may be one already.
func ORCID(id string) string {
	if id == "" || IsLink(id) {
		return id
	}
	return "https://orcid.org/" + id
}

// Point returns a point in WKT, "" unless both coordinates are numbers.
func Point(longitude, latitude loose.Value) string {
	x, okX := longitude.Float()
	y, okY := latitude.Float()
	if !okX || !okY {
		return ""
	}
	return fmt.Sprintf("POINT (%g %g)", x, y)
}

// Places returns the places of a spatial coverage: GeoJSON, also in a string, WKT, a box in one of many spellings, an
// address, a name, or objects that contain these.
func Places(v loose.Value) []harvest.Place {
	var places []harvest.Place
	v = Unfold(v)
	if box := Box(v.List()...); box != nil {
		return []harvest.Place{{Box: box}}
	}
	for _, e := range v.List() {
		if p := place(Unfold(e)); p.IRI != "" || p.Name != "" || p.Geometry != "" || p.Box != nil {
			places = append(places, p)
		}
	}
	return places
}

func place(v loose.Value) harvest.Place {
	if t := v.Text(); t != "" {
		return placeOf(t)
	}
	if v.Get("coordinates").IsArray() || v.Get("geometries").IsArray() {
		return harvest.Place{Geometry: v.JSON()}
	}
	p := harvest.Place{
		IRI:  OnlyLink(v.First("uri", "@id").Text()),
		Name: harvest.FirstText(Texts(v.First("text", "prefLabel", "name", "label", "geographicName", "geoLocationPlace", "title"))),
	}
	box := v
	if inner := Unfold(v.First("bbox", "geoLocationBox")); inner.IsObject() {
		box = inner
	} else if b := Box(inner.List()...); b != nil {
		p.Box = b
	}
	var sides []loose.Value
	for _, side := range [][]string{{"west", "westBoundLongitude", "minx", "westLon"}, {"south", "southBoundLatitude", "miny", "southLat"},
		{"east", "eastBoundLongitude", "maxx", "eastLon"}, {"north", "northBoundLatitude", "maxy", "northLat"}} {
		sides = append(sides, box.First(side...))
	}
	if b := Box(sides...); b != nil && p.Box == nil {
		p.Box = b
	}
	for _, name := range []string{"geom", "geometry", "bbox", "centroid"} {
		g := Unfold(v.Get(name))
		switch t := g.Text(); {
		case p.Geometry != "" || p.Box != nil && name != "geom" && name != "geometry":
		case g.Get("coordinates").IsArray():
			p.Geometry = g.JSON()
		case t != "":
			inner := placeOf(t)
			p.Geometry = inner.Geometry
			if p.Box == nil {
				p.Box = inner.Box
			}
		}
	}
	return p
}

// placeOf parses a string: "w,s,e,n", "ENVELOPE(w, e, n, s)", WKT, an address or a name.
func placeOf(t string) harvest.Place {
	upper := strings.ToUpper(t[:min(len(t), 60)])
	if _, rest, found := strings.Cut(upper, ";"); found && strings.HasPrefix(upper, "SRID=") {
		upper = rest
	}
	if strings.HasPrefix(upper, "ENVELOPE") {
		if n := numbers(strings.Trim(t[len("ENVELOPE"):], "() ")); len(n) == 4 {
			return harvest.Place{Box: Box(n[0], n[3], n[1], n[2])}
		}
	}
	for _, kind := range []string{"POINT", "LINESTRING", "POLYGON", "MULTI", "GEOMETRYCOLLECTION", "<GML", "<HTTP://WWW.OPENGIS.NET/"} {
		if strings.HasPrefix(upper, kind) && strings.ContainsAny(t, "(<") {
			return harvest.Place{Geometry: t}
		}
	}
	if n := numbers(t); len(n) == 4 {
		if box := Box(n...); box != nil {
			return harvest.Place{Box: box}
		}
	}
	if IsLink(t) {
		return harvest.Place{IRI: t}
	}
	return harvest.Place{Name: Plain(t)}
}

func numbers(t string) []loose.Value {
	var n []loose.Value
	for _, f := range strings.FieldsFunc(t, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		n = append(n, loose.String(f))
	}
	return n
}

// Box returns the box with these sides: west, south, east, north. It returns nil if they are not degrees in this order.
func Box(sides ...loose.Value) []float64 {
	if len(sides) != 4 {
		return nil
	}
	box := make([]float64, 4)
	for i, s := range sides {
		var ok bool
		if box[i], ok = s.Float(); !ok {
			return nil
		}
	}
	if box[0] < -180 || box[0] > 180 || box[2] < -180 || box[2] > 360 || box[1] < -90 || box[3] > 90 || box[1] > box[3] {
		return nil
	}
	return box
}

// Periods returns the periods of a temporal coverage: "start/end", an object with both ends, or a list of these.
func Periods(v loose.Value) []harvest.Period {
	var periods []harvest.Period
	for _, e := range Unfold(v).List() {
		p := harvest.Period{
			Start: e.First("start", "startDate", "start_date", "begin", "from", "gte").Text(),
			End:   e.First("end", "endDate", "end_date", "to", "lte").Text(),
		}
		if t := e.Text(); t != "" {
			start, end, found := strings.Cut(t, "/")
			if !found { // a year or a day
				end = start
			}
			p = harvest.Period{Start: strings.TrimSpace(start), End: strings.TrimSpace(end)}
		}
		if p != (harvest.Period{}) {
			periods = append(periods, p)
		}
	}
	return periods
}

// Plain returns a text without markup.
func Plain(s string) string {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "</") && !strings.Contains(s, "/>") && !strings.Contains(s, "<br") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if name, _ := z.TagName(); block(string(name)) && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
	}
}

func block(tag string) bool {
	switch tag {
	case "p", "div", "br", "li", "ul", "ol", "h1", "h2", "h3", "h4", "tr", "table":
		return true
	}
	return false
}
