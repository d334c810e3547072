package portalapi

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

// Source is one portal, or the part of it that an address selects.
type Source struct {
	URL    string // of the portal, or of any page below its Root
	Portal string // IRI of the portal; "" means IRI(Root)
	HTTP   harvest.Doer
	Rows   int              // entries per page; 0 means what the Software sets
	Since  string           // harvest only what changed since then; "" means everything, then what changed since the last harvest
	Now    func() time.Time // nil means time.Now
}

// Software describes the JSON interface of one portal software: what sets it apart from the others. Either Run is set,
// or Page, ID and Read are.
type Software struct {
	Kind  string   // kind of source; errors begin with it
	Name  string   // of the software, for people
	Paths []string // paths of the interface and of pages; in a Source's address, the first of them ends the portal's Root
	Rows  int      // entries per page, if the Source does not set another number

	// About asks the portal about itself and completes Harvest.Portal and Harvest.Whole. It may be nil.
	About func(context.Context, *Harvest)
	// Page, ID and Read are those of Harvest.Walk.
	Page func(ctx context.Context, h *Harvest, at string, n int) (Page, error)
	ID   func(loose.Value) string
	Read func(ctx context.Context, h *Harvest, id string, v loose.Value) (Entry, error)
	// Count asks how many datasets the portal lists, as harvest.Counter does. It may be nil.
	Count func(context.Context, *Harvest) (n int, ok bool)
	// Names asks for the IRIs of all datasets, as harvest.Namer does. It may be nil.
	Names func(context.Context, *Harvest) (datasets []string, ok bool)
	// Run replaces Harvest.Run.
	Run func(context.Context, *Harvest) error
}

// Entry is an entry of a list as a dataset.
type Entry struct {
	harvest.Dataset
	Changed string // when the portal says that the entry last changed
	Gone    bool   // the dataset was deleted or withdrawn
}

// Harvester harvests one portal.
type Harvester struct {
	Source
	software Software
}

var (
	_ harvest.Selective = Harvester{}
	_ harvest.Namer     = Harvester{}
)

// New returns the harvester of a portal that runs the software.
func New(software Software, source Source) Harvester { return Harvester{source, software} }

// Select implements harvest.Selective.
func (s Harvester) Select(part harvest.Selection) (harvest.Harvester, error) {
	since, err := part.OnlySince()
	if !since.IsZero() {
		s.Since = since.Format(time.RFC3339)
	}
	return s, err
}

// Harvest implements harvest.Harvester. Its marks are those of Listing and Begin.
func (s Harvester) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	if err := s.harvest(ctx, from, out); err != nil {
		return fmt.Errorf("%s: %w", s.software.Kind, err)
	}
	return nil
}

// Count implements harvest.Counter.
func (s Harvester) Count(ctx context.Context) (n int, ok bool) {
	if s.software.Count == nil || s.Since != "" {
		return 0, false
	}
	h, err := s.begin("", nil)
	if err != nil {
		return 0, false
	}
	return s.software.Count(ctx, h)
}

// Names implements harvest.Namer.
func (s Harvester) Names(ctx context.Context) (datasets []string, ok bool) {
	if s.software.Names == nil || s.Since != "" {
		return nil, false
	}
	h, err := s.begin("", nil)
	if err != nil {
		return nil, false
	}
	return s.software.Names(ctx, h)
}

func (s Harvester) harvest(ctx context.Context, from string, out harvest.Sink) error {
	h, err := s.begin(from, out)
	if err != nil {
		return err
	}
	if s.software.Run != nil {
		return s.software.Run(ctx, h)
	}
	return h.Run(ctx)
}

// begin returns a harvest at a mark.
func (s Harvester) begin(from string, out harvest.Sink) (*Harvest, error) {
	root, err := Root(s.URL, s.software.Paths...)
	if err != nil {
		return nil, err
	}
	h := &Harvest{
		Source: s.Source, Root: root, From: from, Out: out, Mark: Begin(from, s.Since, harvest.Now(s.Now)),
		Portal:   harvest.Portal{IRI: cmp.Or(s.Portal, IRI(root)), Homepage: IRI(root), Software: s.software.Name},
		software: s.software,
	}
	h.Source.Rows = cmp.Or(max(s.Rows, 0), s.software.Rows)
	h.Whole = h.Mark.Whole()
	return h, nil
}

// Harvest is a harvest in progress.
type Harvest struct {
	Source Source // with the number of rows that applies
	Root   string
	From   string         // mark that the harvest continues from
	Portal harvest.Portal // what is known of the portal
	Whole  bool           // every dataset of the portal is harvested
	Mark   Mark
	Out    harvest.Sink

	software Software
}

// Run begins the portal and walks through its list.
func (h *Harvest) Run(ctx context.Context) error {
	if h.software.About != nil {
		h.software.About(ctx, h)
	}
	if err := h.Out.Portal(h.Portal, h.Whole); err != nil {
		return err
	}
	return h.Walk(ctx, func(ctx context.Context, at string, n int) (Page, error) { return h.software.Page(ctx, h, at, n) })
}

// Walk hands the entries of all pages to Out and sets the mark of the next harvest. page is the Fetch of a Listing; the
// words named by keep stay in each mark.
func (h *Harvest) Walk(ctx context.Context, page func(ctx context.Context, at string, n int) (Page, error), keep ...string) error {
	return Listing{
		Out: h.Out, Fetch: page, Keep: keep,
		ID: func(v loose.Value) string { return cmp.Or(h.software.ID(v), v.JSON()) },
		Item: func(ctx context.Context, v loose.Value) error {
			id := h.software.ID(v)
			if id == "" {
				h.Out.Skip("an entry of the list has no ID")
				return nil
			}
			e, err := h.software.Read(ctx, h, id, v)
			if err != nil {
				return err
			}
			h.Mark.Saw(e.Changed)
			if e.Gone {
				return h.Out.Gone(e.IRI)
			}
			return h.Out.Dataset(e.Dataset)
		},
	}.Walk(ctx, h.Mark)
}

// Get asks for the document at a path below Root, as Client.Get does.
func (h *Harvest) Get(ctx context.Context, path string, query url.Values) (loose.Value, error) {
	return Client{HTTP: h.Source.HTTP}.Get(ctx, h.Root+path, query)
}

// Total returns the number at one of the paths of an answer, which says how many datasets a portal lists.
func Total(v loose.Value, err error, paths ...[]string) (n int, ok bool) {
	for _, path := range paths {
		if total := v.Get(path...); err == nil && (total.Int() > 0 || total.Text() == "0") {
			return int(total.Int()), true
		}
	}
	return 0, false
}

// GetOnce is Get without further tries, for what a harvest can do without.
func (h *Harvest) GetOnce(ctx context.Context, path string) loose.Value {
	v, err := Client{HTTP: h.Source.HTTP, Tries: 1}.Get(ctx, h.Root+path, nil)
	if err != nil {
		return loose.Value{}
	}
	return v
}

// List asks for a page of entries, which are the array at the path items of the answer. An answer without that array is
// a *PageError. Next and Total of the page are the caller's to set.
func (h *Harvest) List(ctx context.Context, path string, query url.Values, items ...string) (Page, loose.Value, error) {
	v, err := h.Get(ctx, path, query)
	list := v.Get(items...)
	if err == nil && !list.IsArray() {
		err = &PageError{h.Root + path, "an answer without " + items[len(items)-1]}
	}
	return Page{Items: list.List()}, v, err
}
