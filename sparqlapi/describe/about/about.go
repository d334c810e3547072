// Package about reads what portals say of their datasets and files, in terms of DCAT.
//
// The statements are in the portals' named graphs, which harvests write. If several graphs describe a dataset, their
// statements are read together. The statements of a dataset that its portal has withdrawn are used only if no other
// graph describes it. Everything is a stranger's text and bounded: lists are cut after maxValues values, texts after
// maxText bytes.
package about

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Text is a text with its language tag, which may be "".
type Text struct{ Value, Lang string }

// Thing is something that a portal names by an IRI, by words, or by both.
type Thing struct{ IRI, Label string }

// Agent is an organisation or a person. Mail is an address without "mailto:".
type Agent struct{ IRI, Name, Mail, Page string }

// Period is a period of time; Start or End is "" if it is open. They are dates as the portal writes them.
type Period struct{ Start, End string }

// File is a distribution of a dataset.
type File struct {
	URLs        []string // access and download addresses
	Title       string
	Description string
	Format      Thing
	Licence     Thing
}

// Dataset is what portals say of a dataset. Fields are empty where none says anything.
type Dataset struct {
	IRI          string
	Title        []Text
	Description  []Text
	Keywords     []Text
	Themes       []Thing
	Publisher    Agent
	Creators     []Agent
	Contact      Agent
	Licence      Thing // the dataset's own, or else that of its files, if they all have the same
	Rights       Thing
	AccessRights Thing
	Frequency    Thing
	Issued       string // a date or a time, as the portal writes it
	Modified     string
	Languages    []Thing
	Landing      string
	Spatial      []Thing
	Temporal     []Period
	Conforms     []Thing
	Files        []File
}

const (
	maxValues = 60
	maxFiles  = 200
	maxText   = 8 << 10
	maxLabel  = 500
)

// Withdrawn is the end of the names of the graphs with the datasets that a portal has withdrawn.
const Withdrawn = "#withdrawn"

// Read returns what the portals say of each of some datasets, by IRI. An unknown dataset is not in the result.
func Read(ctx context.Context, ds term.Dataset, iris ...string) (map[string]Dataset, error) {
	r := &reader{ctx: ctx, ds: ds, predicates: map[string]term.ID{}, withdrawn: map[term.ID]bool{}, terms: map[term.ID]term.Key{}}
	all := make(map[string]Dataset, len(iris))
	for _, iri := range iris {
		if _, done := all[iri]; done {
			continue
		}
		id, ok, err := ds.Lookup(term.IRI(iri))
		if err != nil {
			return nil, fmt.Errorf("about %.200s: %w", iri, err)
		}
		if !ok {
			continue
		}
		d := r.dataset(id)
		if r.err != nil {
			return nil, fmt.Errorf("about %.200s: %w", iri, r.err)
		}
		d.IRI = iri
		all[iri] = d
	}
	return all, nil
}

// Best returns the text in the language that is preferred: the first of langs that there is, else one without a
// language, else the first. It returns the zero Text for none.
func Best(texts []Text, langs ...string) Text {
	for _, lang := range append(langs, "") {
		for _, t := range texts {
			if strings.EqualFold(t.Lang, lang) || lang != "" && strings.HasPrefix(strings.ToLower(t.Lang), strings.ToLower(lang)+"-") {
				return t
			}
		}
	}
	if len(texts) > 0 {
		return texts[0]
	}
	return Text{}
}

func (r *reader) dataset(id term.ID) (d Dataset) {
	d.Title, d.Description, d.Keywords = r.texts(id, vocab.DCTTitle), r.texts(id, vocab.DCTDescription), r.texts(id, vocab.DCATKeyword)
	d.Themes = r.things(id, vocab.DCATTheme)
	d.Publisher, d.Contact = r.agent(id, vocab.DCTPublisher), r.agent(id, vocab.DCATContactPoint)
	for _, p := range []string{vocab.DCTCreator, vocab.SchemaNS + "creator", vocab.SchemaNS + "author"} {
		for _, v := range r.values(id, p) {
			if a := r.agentAt(v); a != (Agent{}) && !slices.Contains(d.Creators, a) {
				d.Creators = append(d.Creators, a)
			}
		}
	}
	d.Licence, d.Rights, d.AccessRights = r.thing(id, vocab.DCTLicense), r.thing(id, vocab.DCTRights), r.thing(id, vocab.DCTAccessRights)
	d.Frequency, d.Languages = r.thing(id, vocab.DCTAccrualPeriodicity), r.things(id, vocab.DCTLanguage)
	d.Issued, d.Modified = r.text(id, vocab.DCTIssued), r.text(id, vocab.DCTModified)
	if landing := r.things(id, vocab.DCATLandingPage); len(landing) > 0 {
		d.Landing = landing[0].IRI
	}
	d.Spatial, d.Conforms = r.things(id, vocab.DCTSpatial), r.things(id, vocab.DCTConformsTo)
	for _, v := range r.values(id, vocab.DCTTemporal) {
		p := Period{r.text(v.id, vocab.DCATStartDate, vocab.SchemaNS+"startDate"),
			r.text(v.id, vocab.DCATEndDate, vocab.SchemaNS+"endDate")}
		if p != (Period{}) {
			d.Temporal = append(d.Temporal, p)
		}
	}
	for _, v := range r.values(id, vocab.DCATDistributionProp) {
		if len(d.Files) == maxFiles {
			break
		}
		if v.key.Kind() != term.KindLiteral {
			d.Files = append(d.Files, r.file(v))
		}
	}
	if d.Licence == (Thing{}) {
		d.Licence = common(d.Files)
	}
	return d
}

func (r *reader) file(v value) File {
	f := File{Title: Best(r.texts(v.id, vocab.DCTTitle)).Value, Description: Best(r.texts(v.id, vocab.DCTDescription)).Value,
		Format: r.thing(v.id, vocab.DCTFormat), Licence: r.thing(v.id, vocab.DCTLicense)}
	if f.Licence == (Thing{}) {
		f.Licence = r.thing(v.id, vocab.DCTRights)
	}
	for _, p := range []string{vocab.DCATDownloadURL, vocab.DCATAccessURL} {
		for _, t := range r.things(v.id, p) {
			if t.IRI != "" && !slices.Contains(f.URLs, t.IRI) {
				f.URLs = append(f.URLs, t.IRI)
			}
		}
	}
	if v.key.Kind() == term.KindIRI && !slices.Contains(f.URLs, v.key.Value()) {
		f.URLs = append(f.URLs, v.key.Value())
	}
	return f
}

// common returns the licence of the files that have one, if it is the same.
func common(files []File) (licence Thing) {
	for _, f := range files {
		switch {
		case f.Licence == (Thing{}) || f.Licence == licence:
		case licence == (Thing{}):
			licence = f.Licence
		default:
			return Thing{}
		}
	}
	return licence
}

func (r *reader) agent(id term.ID, predicate string) (a Agent) {
	for _, v := range r.values(id, predicate) {
		if a = r.agentAt(v); a != (Agent{}) {
			return a
		}
	}
	return a
}

func (r *reader) agentAt(v value) (a Agent) {
	if v.key.Kind() == term.KindLiteral {
		return Agent{Name: label(v.key.Value())}
	}
	if v.key.Kind() == term.KindIRI {
		a.IRI = v.key.Value()
	}
	a.Name = label(r.text(v.id, vocab.FOAFName, vocab.VCardFn, vocab.VCardNS+"organization-name", vocab.SchemaName, vocab.RDFSLabel,
		vocab.SKOSPrefLabel))
	a.Mail = strings.TrimPrefix(label(r.text(v.id, vocab.VCardHasEmail, vocab.FOAFMbox, vocab.SchemaNS+"email")), "mailto:")
	if page := r.things(v.id, vocab.FOAFHomepage); len(page) > 0 {
		a.Page = page[0].IRI
	} else if page := r.things(v.id, vocab.VCardHasURL); len(page) > 0 {
		a.Page = page[0].IRI
	}
	if a.Name == "" {
		a.Name = LabelOf(a.IRI)
	}
	return a
}

func (r *reader) thing(id term.ID, predicate string) Thing {
	if all := r.things(id, predicate); len(all) > 0 {
		return all[0]
	}
	return Thing{}
}

// things returns the values of a property, with their labels where these are known.
func (r *reader) things(id term.ID, predicate string) (all []Thing) {
	for _, v := range r.values(id, predicate) {
		var t Thing
		switch v.key.Kind() {
		case term.KindLiteral:
			t.Label = label(v.key.Value())
		case term.KindIRI:
			t.IRI = v.key.Value()
			if t.Label = LabelOf(t.IRI); t.Label == "" && predicate != vocab.DCATAccessURL && predicate != vocab.DCATDownloadURL {
				t.Label = label(r.text(v.id, vocab.SKOSPrefLabel, vocab.RDFSLabel, vocab.DCTTitle, vocab.FOAFName))
			}
		default:
			t.Label = label(r.text(v.id, vocab.SKOSPrefLabel, vocab.RDFSLabel, vocab.DCTTitle, vocab.DCTIdentifier, vocab.RDFValue))
		}
		if t != (Thing{}) && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
