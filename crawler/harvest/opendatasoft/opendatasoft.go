// Package opendatasoft harvests portals of Opendatasoft (Huwise) through the explore interface, version 2.1 or 2.0, or the search
// of version 1, and gives each dataset the addresses of its exports and attachments.
//
// The interface counts to 10,000 only. A longer catalog is asked for in ranges of ids: pages begin behind the last one.
package opendatasoft

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// Source is one portal.
type Source struct {
	URL    string
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int              // datasets a page, 0 = 100, which is the most the interface gives
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// versions of the interface, newest first.
func versions() []string { return []string{"/api/explore/v2.1", "/api/explore/v2.0", "/api/v2"} }

// Harvest implements harvest.Harvester. Marks: at and n as in portalapi.Listing, those of portalapi.Begin, api (the version that
// answers).
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/explore", "/pages")
	if err != nil {
		return fmt.Errorf("opendatasoft: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: min(cmp.Or(max(s.Rows, 0), 100), 100), out: out}
	m := portalapi.Begin(from, s.Since, portalapi.Now(s.Now))
	c.mark = m
	if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "Opendatasoft"}, m.Whole()); err != nil {
		return err
	}
	apis := append(versions(), "/api/datasets/1.0")
	if api := m.Get("api"); api != "" {
		apis = []string{api}
	}
	var first error
	for _, c.api = range apis {
		m.Set("api", c.api)
		fetch := c.page
		if c.api == "/api/datasets/1.0" {
			fetch = c.search
		}
		err = portalapi.Listing{Out: out, Fetch: fetch, Item: c.item, ID: idOf, Keep: []string{"api"}}.WalkTurn(ctx, m)
		if err == nil {
			return nil
		}
		if c.answered || !portalapi.Answered(err) {
			return fmt.Errorf("opendatasoft: %w", err)
		}
		first = cmp.Or(first, err)
	}
	return fmt.Errorf("opendatasoft: %w", first)
}

type client struct {
	http     portalapi.Client
	root     string
	api      string
	rows     int
	out      harvest.Sink
	mark     portalapi.Mark
	first    string // id of the first dataset
	answered bool   // the version that is asked gave a list
}

func idOf(v loosejson.Value) string {
	return cmp.Or(v.First("dataset_id", "datasetid").Text(), v.Get("dataset", "dataset_id").Text(), v.JSON())
}

// page of the catalog in the order of ids, behind the last one.
func (c *client) page(ctx context.Context, at string, n int) (portalapi.Page, error) {
	query := url.Values{"limit": {fmt.Sprint(c.rows)}, "order_by": {"dataset_id"}}
	offset, counted := strings.CutPrefix(at, "#")
	switch {
	case counted:
		query = url.Values{"limit": {fmt.Sprint(c.rows)}, "offset": {offset}}
	default:
		if where := c.where(at); where != "" {
			query.Set("where", where)
		}
	}
	v, err := c.http.Get(ctx, c.root+c.api+"/catalog/datasets", query)
	if !counted && portalapi.Refused(err) { // an older version knows neither order nor condition
		return c.page(ctx, fmt.Sprintf("#%d", n), n)
	}
	items := v.First("results", "datasets").List()
	total := int(v.Get("total_count").Int())
	if err == nil && v.Get("results").IsNull() && v.Get("datasets").IsNull() {
		err = &portalapi.PageError{URL: c.root + c.api, Page: "an answer without results"}
	}
	c.answered = c.answered || err == nil
	p := portalapi.Page{Items: items, Total: total}
	if len(items) == 0 {
		return p, err
	}
	last := idOf(items[len(items)-1])
	if at == "" {
		c.first = idOf(items[0])
	}
	switch {
	case counted:
		done := int(loosejson.String(offset).Int()) + len(items)
		if done < total || total == 0 && len(items) >= c.rows {
			p.Next = fmt.Sprintf("#%d", done)
		}
	case at != "" && (idOf(items[0]) == c.first || c.first == "" && idOf(items[0]) <= at): // the condition was passed over
		return c.page(ctx, fmt.Sprintf("#%d", n), n)
	case at == "" && len(items) < total || at != "" && (len(items) >= c.rows || len(items) < total):
		p.Next = last
	}
	if !counted && at != "" { // the rest's number, not the whole's
		p.Total = 0
	}
	return p, err
}

// where is the condition of a page: ids behind the last one, changes since the last harvest.
func (c *client) where(at string) string {
	var all []string
	if at != "" {
		all = append(all, `dataset_id > "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(at)+`"`)
	}
	if since := c.mark.Get("since"); since != "" {
		all = append(all, "modified >= date'"+since+"'")
	}
	return strings.Join(all, " and ")
}

// search of version 1.
func (c *client) search(ctx context.Context, at string, n int) (portalapi.Page, error) {
	v, err := c.http.Get(ctx, c.root+c.api+"/search/", url.Values{"rows": {fmt.Sprint(c.rows)}, "start": {cmp.Or(at, "0")}})
	if err == nil && v.Get("datasets").IsNull() {
		err = &portalapi.PageError{URL: c.root + c.api, Page: "an answer without datasets"}
	}
	c.answered = c.answered || err == nil
	p := portalapi.Page{Items: v.Get("datasets").List(), Total: int(v.Get("nhits").Int())}
	if done := int(loosejson.String(at).Int()) + len(p.Items); len(p.Items) > 0 && (done < p.Total || p.Total == 0) {
		p.Next = fmt.Sprint(done)
	}
	return p, err
}

func (c *client) item(_ context.Context, v loosejson.Value) error {
	if inner := v.Get("dataset"); inner.IsObject() { // version 2.0 has links beside it
		v = inner
	}
	id := idOf(v)
	if id == "" {
		c.out.Skip("an entry of the catalog has no id")
		return nil
	}
	d := c.dataset(id, v)
	c.mark.Saw(d.Modified)
	return c.out.Dataset(d)
}

func (c *client) dataset(id string, v loosejson.Value) harvest.Dataset {
	metas := v.Get("metas")
	meta := metas.Get("default")
	if meta.IsNull() { // version 1 has them all in one
		meta = metas
	}
	dcat := metas.Get("dcat")
	lang := meta.First("metadata_languages", "language").Text()
	d := harvest.Dataset{
		IRI:         c.root + "/explore/dataset/" + url.PathEscape(id) + "/",
		Title:       inLanguage(meta.Get("title"), lang),
		Description: inLanguage(meta.Get("description"), lang),
		Keywords:    inLanguage(meta.Get("keyword"), lang),
		Themes:      portalapi.Words(meta.Get("theme")),
		Identifiers: v.First("dataset_id", "datasetid").Texts(),
		License:     cmp.Or(meta.Get("license_url").Text(), meta.Get("license").Text()),
		Publisher:   portalapi.Agent(meta.Get("publisher")),
		Creators:    portalapi.Agents(dcat.Get("creator")),
		Contact:     harvest.Agent{Name: dcat.Get("contact_name").Text(), Email: portalapi.Email(dcat.Get("contact_email").Text())},
		Frequency:   cmp.Or(dcat.First("accrualperiodicity", "accrual_periodicity").Text(), meta.First("update_frequency").Text()),
		Issued:      dcat.First("issued", "created").Text(),
		Modified:    meta.First("modified", "data_processed").Text(),
		Spatial:     portalapi.Places(firstOf(meta.Get("geographic_reference"), dcat.Get("spatial"), meta.Get("territory"))),
		Language:    meta.Get("language").Texts(),
		Extras:      map[string]string{},
	}
	start, end := dcat.Get("temporal_coverage_start").Text(), dcat.Get("temporal_coverage_end").Text()
	if start != "" || end != "" {
		d.Temporal = []harvest.Period{{Start: start, End: end}}
	} else {
		d.Temporal = portalapi.Periods(dcat.Get("temporal"))
	}
	if box := boxOf(meta.Get("bbox")); box != nil {
		d.Spatial = append(d.Spatial, harvest.Place{Box: box})
	}
	for _, name := range []string{"references", "attributions", "records_count", "timezone", "federated", "source_domain"} {
		if t := meta.Get(name); !t.Empty() {
			d.Extras[name] = strings.Join(t.Texts(), ", ")
		}
	}
	d.Distributions = c.distributions(id, v, d)
	return d
}

func firstOf(values ...loosejson.Value) loosejson.Value {
	for _, v := range values {
		if !v.Empty() {
			return v
		}
	}
	return loosejson.Value{}
}

func inLanguage(v loosejson.Value, lang string) []harvest.Text {
	texts := portalapi.Texts(v)
	for i := range texts {
		texts[i].Lang = cmp.Or(texts[i].Lang, lang)
	}
	return texts
}

// boxOf the extent that the portal has found, a GeoJSON feature or geometry.
func boxOf(v loosejson.Value) []float64 {
	if g := v.Get("geometry"); g.IsObject() {
		v = g
	}
	var box []float64
	for _, ring := range v.Get("coordinates").List() {
		for _, point := range ring.List() {
			x, okX := at(point, 0)
			y, okY := at(point, 1)
			switch {
			case !okX || !okY || x < -180 || x > 180 || y < -90 || y > 90:
				return nil
			case box == nil:
				box = []float64{x, y, x, y}
			default:
				box = []float64{min(box[0], x), min(box[1], y), max(box[2], x), max(box[3], y)}
			}
		}
	}
	return box
}

func at(v loosejson.Value, i int) (float64, bool) {
	if list := v.List(); i < len(list) {
		return list[i].Float()
	}
	return 0, false
}

// distributions are the exports of a table (with a geometry: those of maps too), and the files beside it.
func (c *client) distributions(id string, v loosejson.Value, d harvest.Dataset) []harvest.Distribution {
	var list []harvest.Distribution
	add := func(kind, format, media string) {
		at := fmt.Sprintf("%s/api/explore/v2.1/catalog/datasets/%s/exports/%s", c.root, url.PathEscape(id), kind)
		if c.api == "/api/datasets/1.0" {
			at = fmt.Sprintf("%s/explore/dataset/%s/download/?format=%s", c.root, url.PathEscape(id), kind)
		} else if c.api != "" {
			at = fmt.Sprintf("%s%s/catalog/datasets/%s/exports/%s", c.root, c.api, url.PathEscape(id), kind)
		}
		list = append(list, harvest.Distribution{URL: at, Title: format, Format: format, MediaType: media, Modified: d.Modified})
	}
	features := v.Get("features").Texts()
	if rows := v.Get("has_records"); rows.IsNull() || rows.Bool() {
		add("csv", "CSV", "text/csv")
		add("json", "JSON", "application/json")
		if strings.HasSuffix(c.api, "v2.1") {
			add("parquet", "Parquet", "application/vnd.apache.parquet")
		}
		add("xlsx", "XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
		for _, f := range features {
			if f == "geo" {
				add("geojson", "GeoJSON", "application/geo+json")
				add("shp", "SHP", "application/zip")
				add("kml", "KML", "application/vnd.google-earth.kml+xml")
			}
		}
	}
	for _, kind := range []string{"attachments", "alternative_exports"} {
		for _, a := range v.Get(kind).List() {
			at := portalapi.Resolve(c.root+"/", a.First("href", "url").Text())
			if file := a.Get("id").Text(); !portalapi.IsLink(at) && file != "" {
				at = fmt.Sprintf("%s%s/catalog/datasets/%s/%s/%s", c.root, cmp.Or(c.api, versions()[0]), url.PathEscape(id), kind, url.PathEscape(file))
				if c.api == "/api/datasets/1.0" {
					at = fmt.Sprintf("%s%s/%s/%s/%s/", c.root, c.api, url.PathEscape(id), kind, url.PathEscape(file))
				}
			}
			if !portalapi.IsLink(at) {
				continue
			}
			list = append(list, harvest.Distribution{URL: at, Title: cmp.Or(a.First("metas", "title").Get("title").Text(), a.Get("title").Text()),
				Description: a.Get("description").Text(), MediaType: cmp.Or(a.Get("mimetype").Text(), a.Get("metas", "mime-type").Text()), Size: a.First("size", "filesize").Int()})
		}
	}
	return list
}
