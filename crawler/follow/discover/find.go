package discover

import (
	"net/url"
	"path"
	"strings"

	"odarchive/crawler/harvest"
)

// finding is a file that was found, with what its page says.
type finding struct {
	link    *link
	page    int32 // noPage if a list names it
	why     string
	given   *harvest.Dataset // as the site describes it; nil if it does not
	first   bool             // of the files of given
	listing string           // catalog that lists it, "" for none
}

// knownFile is a file that was found, for the next round.
type knownFile struct {
	URL     string `json:"u"`
	Dataset string `json:"d,omitempty"` // if it is not datasetOf the URL
	Page    int32  `json:"p"`
	Listing string `json:"l,omitempty"` // catalog that lists it
	Met     int    `json:"m,omitempty"` // round in which it was last met
	Lost    bool   `json:"x,omitempty"` // its page was read again and does not link to it any more
}

func (f knownFile) dataset() string {
	if f.Dataset != "" {
		return f.Dataset
	}
	return datasetOf(f.URL)
}

// datasetOf returns the IRI of the dataset that consists of a file.
func datasetOf(address string) string { return address + "#dataset" }

// take takes a link as a data file.
func (w *walk) take(l *link, at int32, why string) error {
	if w.files[l.key] {
		w.meet(l.key, at)
		return nil
	}
	w.files[l.key] = true
	w.seen[l.key] = nil
	return w.found(finding{link: l, page: at, why: why})
}

// meet notes that a known file is still there.
func (w *walk) meet(key uint64, at int32) {
	if i, ok := w.byFile[key]; ok && i < len(w.known) {
		f := &w.known[i]
		if at != noPage && f.Listing == "" && (f.Page == noPage || f.Met != w.round) {
			f.Page = at // the page that it was on may have lost it
		}
		f.Met, f.Lost = w.round, false
	}
}

// remind keeps a finding for the next round.
func (w *walk) remind(f finding) {
	k := knownFile{URL: f.link.url, Page: f.page, Met: w.round}
	if f.given != nil {
		k.Dataset = f.given.IRI
		if f.page == noPage {
			k.Listing = f.listing
		}
	}
	w.byFile[f.link.key] = len(w.known)
	w.known = append(w.known, k)
}

// find returns a finding for people and programs.
func (w *walk) find(f finding) Find {
	out := Find{URL: f.link.url, Title: titleOf(f.link), Score: round(filesOf(float64(f.link.mean))), Requests: w.ask.spent, Why: f.why}
	if f.page != noPage {
		out.Page = w.pages[f.page].url
	}
	if f.given != nil {
		if t := harvest.FirstText(f.given.Title); t != "" {
			out.Title = t
		}
	}
	return out
}

// pathTo returns the way from the first page to a page, at most maxPathSteps long.
func (w *walk) pathTo(at int32) []Step {
	var steps []Step
	for at != noPage && len(steps) < maxPathSteps {
		p := w.pages[at]
		steps = append(steps, Step{URL: p.url, Text: p.text, Score: round(filesOf(float64(p.score))), Why: p.why})
		at = p.from
	}
	for i, j := 0, len(steps)-1; i < j; i, j = i+1, j-1 {
		steps[i], steps[j] = steps[j], steps[i]
	}
	return steps
}

const maxPathSteps = 50

func round(x float64) float64 { return float64(int(x*1000+0.5)) / 1000 }

// titleOf returns what a link calls its file: its text, if that is a name, else what stands around it.
func titleOf(l *link) string {
	text := strings.TrimSpace(l.text)
	if name := strings.TrimSpace(withoutRemark(text)); len(name) > 3 && !generic(name) {
		return text
	}
	if l.context != "" {
		return l.context
	}
	if text != "" {
		return text
	}
	u, err := url.Parse(l.url)
	if err != nil {
		return l.url
	}
	return path.Base(u.Path)
}

// withoutRemark removes a remark in brackets at the end, such as "(CSV, 12 kB)".
func withoutRemark(text string) string {
	if i := strings.LastIndexAny(text, "(["); i >= 0 {
		return text[:i]
	}
	return text
}

// generic reports whether a text says only that something can be downloaded.
func generic(text string) bool {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n++; n > 4 {
			return false
		}
		word = strings.ToLower(strings.Trim(word, ".,:;()[]-–"))
		if word != "" && !strings.Contains(genericWords, " "+word+" ") {
			return false
		}
	}
	return true
}

// genericWords are words of links that name nothing.
const genericWords = " download downloads herunterladen télécharger telecharger téléchargement stáhnout ke stažení descargar descarga " +
	"scarica scaricare baixar " +
	"pobierz letöltés ladda ner hämta last ned lataa descărcați datei file fichier soubor archivo plik here hier ici zde aquí qui als en " +
	"as " +
	"csv tsv xls xlsx ods json geojson xml zip kml gml rdf ttl shp kb mb link öffnen open "

// dataset describes a finding as a dataset of the site.
func (w *walk) dataset(f finding, x Find) harvest.Dataset {
	var d harvest.Dataset
	if f.given != nil {
		d = *f.given
		if d.IRI == "" {
			d.IRI = datasetOf(f.link.url)
		}
	} else {
		l := f.link
		d = harvest.Dataset{IRI: datasetOf(l.url), Publisher: harvest.Agent{Name: w.name, URL: w.home}}
		lang := ""
		if f.page != noPage {
			about := w.abouts[f.page]
			lang = about.Lang
			d.LandingPage, d.License, d.Modified = w.pages[f.page].url, about.Licence, about.Modified
			if about.Site != "" {
				d.Publisher.Name = about.Site
			}
			if lang != "" {
				d.Language = []string{lang}
			}
		}
		if d.Publisher.Name == "" {
			d.Publisher.Name = hostname(w.host)
		}
		d.Title = []harvest.Text{{Value: titleOf(l), Lang: lang}}
		d.Distributions = []harvest.Distribution{{URL: l.url, Title: titleOf(l), Format: l.format}}
	}
	d.Statements = append(d.Statements[:len(d.Statements):len(d.Statements)], w.provenance(d.IRI, f, x)...)
	return d
}
