// Package datajson harvests data.json: the catalog files of Project Open Data (United States) in versions 1.0 and 1.1,
// of DCAT-US 3, and similar files of others, such as ArcGIS Hub and DKAN.
//
// It reads the file as a stream, one dataset at a time, so its length does not matter, and skips datasets that cannot
// be read. It also reads catalogs inside catalogs, members of series and datasets served by services. An interrupted
// harvest continues at the same dataset if the file is still the same. An unchanged file is requested only once a week,
// unless it has an entry that cannot be identified.
//
// Version 1.1 is described at https://resources.data.gov/resources/dcat-us/, version 3 at
// https://github.com/DOI-DO/dcat-us.
package datajson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// Source is one file.
type Source struct {
	URL    string // of the file, or of a portal with a file at /data.json
	Portal string // IRI of the portal; "" means the address without /data.json
	HTTP   harvest.Doer
	Now    func() time.Time // nil means time.Now
}

var _ harvest.Harvester = Source{}

// step is the number of datasets between marks.
const step = 100

// Harvest implements harvest.Harvester. Its marks consist of n (datasets so far), tag (version of the file) and
// nameless (an entry could not be identified), or are a harvest.Document if the file was read to its end.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL)
	if err != nil {
		return fmt.Errorf("datajson: %w", err)
	}
	address := strings.TrimSpace(s.URL)
	if !strings.Contains(strings.ToLower(root), ".json") && !strings.Contains(address, "?") {
		address = root + "/data.json"
	}
	now := harvest.Now(s.Now)
	before, isBefore := harvest.ParseDocument(from)
	body, header, err := portalapi.Open(ctx, s.HTTP, address, before.Unless(address, now))
	if errors.Is(err, harvest.ErrNotModified) {
		out.NotModified(from)
		return nil
	}
	if err != nil {
		return fmt.Errorf("datajson: %w", err)
	}
	defer body.Close() // read only
	at := portalapi.ParseMark(from)
	tag := harvest.Tag(header)
	w := &walk{ctx: ctx, address: address, root: strings.TrimSuffix(root, "/data.json"), tag: tag, out: out,
		in: loose.NewJSONReader(body, 0), seen: map[string]bool{}}
	w.portal = harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(w.root)), Software: "data.json"}
	if !isBefore && at.Get("tag") == tag {
		w.skip, w.nameless = at.Int("n"), at.Get("nameless") != ""
	}
	if err := w.document(); err != nil {
		return fmt.Errorf("datajson: %w", err)
	}
	if !w.nameless {
		out.Next(harvest.Document{URL: address, Tag: tag, Read: now}.Mark())
	}
	return nil
}

// walk is a walk through one file.
type walk struct {
	ctx     context.Context
	address string // of the file
	root    string // of the portal
	tag     string
	portal  harvest.Portal
	out     harvest.Sink
	in      *loose.JSONReader
	began   bool // the portal was passed to out
	skip    int  // number of entries read by an earlier harvest
	n       int  // number of entries so far
	seen    map[string]bool

	byID     bool // datasets are named by their @id
	nameless bool // an entry could be neither read nor identified
}

// catalog is what has been read of a catalog.
type catalog struct {
	nested bool
	names  []string
	values []loose.Value
}

func (c *catalog) object() loose.Value { return loose.Object(c.names, c.values) }

func (w *walk) document() error {
	first, err := w.in.Peek()
	if err != nil {
		return w.stop(err)
	}
	about := &catalog{}
	switch first {
	case '[': // version 1.0
		err = w.in.Array(func() error { return w.entry(about, w.dataset) })
	case '{':
		err = w.catalog(about)
	default:
		if _, err = w.in.Value(); err != nil {
			return fmt.Errorf("%s is not a catalog: %w", w.address, err)
		}
		return fmt.Errorf("%s is not a catalog", w.address)
	}
	if err != nil {
		return w.stop(err)
	}
	if alone := about.object(); w.n == 0 && !alone.First("distribution", "identifier", "accessURL").Empty() {
		if err := w.begin(&catalog{}); err != nil {
			return err
		}
		if err := w.dataset(alone, about); err != nil {
			return err
		}
		w.n++
	}
	if w.n == 0 && about.object().Get("dataset").IsNull() && !w.began {
		return fmt.Errorf("%s has no datasets", w.address)
	}
	if err := w.begin(about); err != nil {
		return err
	}
	return w.mark()
}

// stop sets a mark behind the datasets that were read, and returns err.
func (w *walk) stop(err error) error {
	var broken *loose.Error
	if errors.As(err, &broken) {
		err = fmt.Errorf("%s has %w", w.address, err)
	}
	if w.n > w.skip {
		return errors.Join(w.mark(), err)
	}
	return err
}

func (w *walk) mark() error {
	m := portalapi.MarkOf("n", fmt.Sprint(w.n), "tag", w.tag)
	if w.nameless {
		m.Set("nameless", "1")
	}
	return w.out.Mark(m.String())
}

// catalog reads a catalog, whose members may be in any order.
func (w *walk) catalog(about *catalog) error {
	return w.in.Object(func(name string) error {
		switch name {
		case "dataset", "datasets":
			about.names, about.values = append(about.names, "dataset"), append(about.values, loose.String("read"))
			return w.entries(about, w.dataset)
		case "datasetSeries":
			return w.entries(about, w.series)
		case "service":
			return w.entries(about, w.service)
		case "record":
			return w.entries(about, w.record)
		case "catalog":
			return w.each(func() error { return w.catalog(&catalog{nested: true}) })
		}
		v, err := w.in.Value()
		var bad *loose.Bad
		if errors.As(err, &bad) {
			return nil // an optional member
		}
		about.names, about.values = append(about.names, name), append(about.values, v)
		return err
	})
}

// each calls do for each element of an array, or for a single value.
func (w *walk) each(do func() error) error {
	if first, err := w.in.Peek(); err != nil || first != '[' {
		return cmp.Or(err, do())
	}
	return w.in.Array(do)
}

func (w *walk) entries(about *catalog, do func(loose.Value, *catalog) error) error {
	return w.each(func() error { return w.entry(about, do) })
}

// entry reads an entry of a catalog. It skips entries that cannot be read.
func (w *walk) entry(about *catalog, do func(loose.Value, *catalog) error) error {
	if err := w.begin(about); err != nil {
		return err
	}
	w.n++
	if w.n <= w.skip {
		return w.in.Skip()
	}
	v, err := w.in.Value()
	var bad *loose.Bad
	switch {
	case errors.As(err, &bad):
		dataset := w.iriOf(bad.Part)
		if bad.Part.Get("@id").Empty() && (w.byID || bad.Part.Get("identifier").Empty()) { // its identifier may follow the fault
			dataset, w.nameless = "entry "+bad.Sum, true
		}
		if err := w.out.Unknown(dataset, fmt.Sprintf("entry number %d: %s", w.n, bad.Why)); err != nil {
			return err
		}
	case err != nil:
		w.n--
		return err
	default:
		if err := do(v, about); err != nil {
			return err
		}
	}
	if w.n%step == 0 {
		return w.mark()
	}
	return w.ctx.Err()
}

// begin passes the portal to out, once, with what the outermost catalog has said so far.
func (w *walk) begin(about *catalog) error {
	if w.began {
		return nil
	}
	w.began = true
	a := about.object()
	w.portal.Title = harvest.FirstText(portalapi.Texts(a.Get("title")))
	w.portal.Description = harvest.FirstText(portalapi.Texts(a.Get("description")))
	w.portal.Homepage = portalapi.Link(a.Get("homepage"))
	w.portal.Publisher = portalapi.Agent(a.Get("publisher"))
	w.portal.Language = a.Get("language").Texts()
	return w.out.Portal(w.portal, true)
}
