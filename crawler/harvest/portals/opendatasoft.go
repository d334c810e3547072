// Harvests portals of Opendatasoft (Huwise) through the explore API, version 2.1 or 2.0, or the
// search of version 1, and lists the exports and attachments of each dataset.
//
// The API counts only to 10,000, so pages start behind the ID of the last dataset.

package portals

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// NewOpenDataSoft returns the harvester of one portal. A page has at most 100 datasets, the API's limit. The marks have
// one more word, api: the version that answers.
func NewOpenDataSoft(s portalapi.Source) portalapi.Harvester {
	s.Rows = min(s.Rows, 100)
	return portalapi.New(portalapi.Software{
		Kind: "opendatasoft", Name: "Opendatasoft", Paths: []string{"/api", "/explore", "/pages"}, Rows: 100,
		Run: opendatasoftRun, ID: idOf, Read: opendatasoftRead, Count: opendatasoftCount,
	}, s)
}

// version1 is the path of the API's first version, which has no other list than its search.
const version1 = "/api/datasets/1.0"

// versions returns the paths of later versions, the newest first.
func versions() []string { return []string{"/api/explore/v2.1", "/api/explore/v2.0", "/api/v2"} }

func opendatasoftRun(ctx context.Context, h *portalapi.Harvest) error {
	if err := h.Out.Portal(h.Portal, h.Whole); err != nil {
		return err
	}
	apis := append(versions(), version1)
	if api := h.Mark.Get("api"); api != "" {
		apis = []string{api}
	}
	var first error
	for _, api := range apis {
		h.Mark.Set("api", api)
		c := &opendatasoftClient{Harvest: h, api: api}
		page := c.page
		if api == version1 {
			page = c.search
		}
		err := h.Walk(ctx, page, "api")
		if err == nil || c.answered || !portalapi.Answered(err) {
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}

func opendatasoftCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	for _, api := range versions() {
		v, err := h.Get(ctx, api+"/catalog/datasets", url.Values{"limit": {"1"}})
		if n, ok := portalapi.Total(v, err, []string{"total_count"}); ok || err != nil && !portalapi.Answered(err) {
			return n, ok
		}
	}
	v, err := h.Get(ctx, version1+"/search/", url.Values{"rows": {"0"}})
	return portalapi.Total(v, err, []string{"nhits"})
}

// opendatasoftClient is a harvest through one version of the API.
type opendatasoftClient struct {
	*portalapi.Harvest
	api      string
	first    string // key of the first dataset
	answered bool   // the API returned a list
}

func idOf(v loose.Value) string {
	return cmp.Or(v.First("dataset_id", "datasetid").Text(), v.Get("dataset", "dataset_id").Text())
}

// key returns what identifies an entry in the list, even if it has no ID.
func key(v loose.Value) string { return cmp.Or(idOf(v), v.JSON()) }

// page asks for datasets in the order of their IDs, behind the one whose ID is at, or behind a number of them ("#300").
func (c *opendatasoftClient) page(ctx context.Context, at string, n int) (portalapi.Page, error) {
	query := url.Values{"limit": {fmt.Sprint(c.Source.Rows)}}
	offset, counted := strings.CutPrefix(at, "#")
	if counted {
		query.Set("offset", offset)
	} else {
		query.Set("order_by", "dataset_id")
		if where := c.where(at); where != "" {
			query.Set("where", where)
		}
	}
	v, err := c.Get(ctx, c.api+"/catalog/datasets", query)
	if !counted && portalapi.Refused(err) { // older versions refuse both order and condition
		return c.page(ctx, fmt.Sprintf("#%d", n), n)
	}
	p := portalapi.Page{Items: v.First("results", "datasets").List(), Total: int(v.Get("total_count").Int())}
	if err == nil && v.Get("results").IsNull() && v.Get("datasets").IsNull() {
		err = &portalapi.PageError{URL: c.Root + c.api, Page: "an answer without results"}
	}
	c.answered = c.answered || err == nil
	if len(p.Items) == 0 {
		if at != "" && !counted {
			p.Total += n // it counts the datasets that the condition leaves
		}
		return p, err
	}
	total, first := p.Total, key(p.Items[0])
	if at == "" {
		c.first = first
	}
	switch {
	case counted:
		done := int(loose.String(offset).Int()) + len(p.Items)
		if done < total || total == 0 && len(p.Items) >= c.Source.Rows {
			p.Next = fmt.Sprintf("#%d", done)
		}
		return p, err
	case at != "" && (first == c.first || c.first == "" && first <= at): // the condition was ignored
		return c.page(ctx, fmt.Sprintf("#%d", n), n)
	case len(p.Items) < total || at != "" && len(p.Items) >= c.Source.Rows:
		p.Next = key(p.Items[len(p.Items)-1])
	}
	if at != "" {
		p.Total = 0 // it counts the datasets that the condition leaves
	}
	return p, err
}

// where returns the condition of a page: IDs behind the last one, changes since the last harvest.
func (c *opendatasoftClient) where(at string) string {
	var all []string
	if at != "" {
		all = append(all, `dataset_id > "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(at)+`"`)
	}
	if since := c.Mark.Get("since"); since != "" {
		all = append(all, "modified >= date'"+since+"'")
	}
	return strings.Join(all, " and ")
}

// search asks version 1 for datasets behind a number of them.
func (c *opendatasoftClient) search(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	p, v, err := c.List(ctx, c.api+"/search/", url.Values{"rows": {fmt.Sprint(c.Source.Rows)}, "start": {cmp.Or(at, "0")}}, "datasets")
	c.answered = c.answered || err == nil
	p.Total = int(v.Get("nhits").Int())
	if done := int(loose.String(at).Int()) + len(p.Items); len(p.Items) > 0 && (done < p.Total || p.Total == 0) {
		p.Next = fmt.Sprint(done)
	}
	return p, err
}

func opendatasoftRead(_ context.Context, h *portalapi.Harvest, id string, v loose.Value) (portalapi.Entry, error) {
	if inner := v.Get("dataset"); inner.IsObject() { // version 2.0 puts links beside it
		v = inner
	}
	metas := v.Get("metas")
	meta := metas.Get("default")
	if meta.IsNull() { // version 1 does not group them
		meta = metas
	}
	dcat := metas.Get("dcat")
	lang := meta.First("metadata_languages", "language").Text()
	d := harvest.Dataset{
		IRI:         h.Root + "/explore/dataset/" + url.PathEscape(id) + "/",
		Title:       portalapi.TextsIn(lang, meta.Get("title")),
		Description: portalapi.TextsIn(lang, meta.Get("description")),
		Keywords:    portalapi.TextsIn(lang, meta.Get("keyword")),
		Themes:      portalapi.Words(meta.Get("theme")),
		Identifiers: v.First("dataset_id", "datasetid").Texts(),
		License:     meta.First("license_url", "license").Text(),
		Publisher:   portalapi.Agent(meta.Get("publisher")),
		Creators:    portalapi.Agents(dcat.Get("creator")),
		Contact:     harvest.Agent{Name: dcat.Get("contact_name").Text(), Email: portalapi.Email(dcat.Get("contact_email").Text())},
		Frequency:   cmp.Or(dcat.First("accrualperiodicity", "accrual_periodicity").Text(), meta.Get("update_frequency").Text()),
		Issued:      dcat.First("issued", "created").Text(),
		Modified:    meta.First("modified", "data_processed").Text(),
		Spatial:     portalapi.Places(loose.FirstOf(meta.Get("geographic_reference"), dcat.Get("spatial"), meta.Get("territory"))),
		Temporal:    portalapi.Periods(dcat.Get("temporal")),
		Language:    meta.Get("language").Texts(),
		Extras:      map[string]string{},
	}
	period := harvest.Period{Start: dcat.Get("temporal_coverage_start").Text(), End: dcat.Get("temporal_coverage_end").Text()}
	if period != (harvest.Period{}) {
		d.Temporal = []harvest.Period{period}
	}
	if box := boxOf(meta.Get("bbox")); box != nil {
		d.Spatial = append(d.Spatial, harvest.Place{Box: box})
	}
	for _, name := range []string{"references", "attributions", "records_count", "timezone", "federated", "source_domain"} {
		if t := meta.Get(name); !t.Empty() {
			d.Extras[name] = strings.Join(t.Texts(), ", ")
		}
	}
	api := cmp.Or(h.Mark.Get("api"), versions()[0])
	d.Distributions = append(opendatasoftExports(h.Root, api, url.PathEscape(id), v, d.Modified),
		attachments(h.Root, api, url.PathEscape(id), v)...)
	return portalapi.Entry{Dataset: d, Changed: d.Modified}, nil
}

// boxOf returns the box around a GeoJSON feature or geometry, nil if it is not one in degrees.
func boxOf(v loose.Value) []float64 {
	if g := v.Get("geometry"); g.IsObject() {
		v = g
	}
	var box []float64
	for _, ring := range v.Get("coordinates").List() {
		for _, point := range ring.List() {
			x, okX := coordinate(point, 0)
			y, okY := coordinate(point, 1)
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

func coordinate(point loose.Value, i int) (float64, bool) {
	if list := point.List(); i < len(list) {
		return list[i].Float()
	}
	return 0, false
}

// opendatasoftExports lists the formats in which a portal offers a table, and those for maps if the table has a
// geometry.
func opendatasoftExports(root, api, id string, v loose.Value, modified string) []harvest.Distribution {
	if rows := v.Get("has_records"); !rows.IsNull() && !rows.Bool() {
		return nil
	}
	var list []harvest.Distribution
	add := func(kind, format, media string) {
		at := fmt.Sprintf("%s%s/catalog/datasets/%s/exports/%s", root, api, id, kind)
		if api == version1 {
			at = fmt.Sprintf("%s/explore/dataset/%s/download/?format=%s", root, id, kind)
		}
		list = append(list, harvest.Distribution{URL: at, Title: format, Format: format, MediaType: media, Modified: modified})
	}
	add("csv", "CSV", "text/csv")
	add("json", "JSON", "application/json")
	if strings.HasSuffix(api, "v2.1") {
		add("parquet", "Parquet", "application/vnd.apache.parquet")
	}
	add("xlsx", "XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	if slices.Contains(v.Get("features").Texts(), "geo") {
		add("geojson", "GeoJSON", "application/geo+json")
		add("shp", "SHP", "application/zip")
		add("kml", "KML", "application/vnd.google-earth.kml+xml")
	}
	return list
}

// attachments lists the files that accompany a dataset.
func attachments(root, api, id string, v loose.Value) []harvest.Distribution {
	var list []harvest.Distribution
	for _, kind := range []string{"attachments", "alternative_exports"} {
		for _, a := range v.Get(kind).List() {
			at := portalapi.Resolve(root+"/", a.First("href", "url").Text())
			if file := url.PathEscape(a.Get("id").Text()); !portalapi.IsLink(at) && file != "" {
				at = fmt.Sprintf("%s%s/catalog/datasets/%s/%s/%s", root, api, id, kind, file)
				if api == version1 {
					at = fmt.Sprintf("%s%s/%s/%s/%s/", root, api, id, kind, file)
				}
			}
			if !portalapi.IsLink(at) {
				continue
			}
			list = append(list, harvest.Distribution{URL: at, Title: cmp.Or(a.Get("metas", "title").Text(), a.Get("title").Text()),
				Description: a.Get("description").Text(), MediaType: cmp.Or(a.Get("mimetype").Text(), a.Get("metas", "mime-type").Text()),
				Size: a.First("size", "filesize").Int()})
		}
	}
	return list
}
