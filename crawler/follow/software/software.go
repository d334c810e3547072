// Package software knows what the software of a web site makes of its pages: which page is a list, which one an item,
// which address is a file although no extension says so, and where time is lost.
//
// It is the application-aware helper of a crawl that looks for data. rules.toml and generic.toml say how ten systems
// are recognised, and what their addresses and pages are; operators add rules of their own (Options). The types are
//
//   - Site, what is known of a site so far: its software with the evidence, and how many pages of each level were seen.
//     It is small, and kept as JSON with the state of a crawl. Its zero value is a site of which nothing is known.
//   - Page, an answer of the site. Helper.See adds what it shows to the Site: no request is made for the recognition.
//   - Level, what a page is for somebody who looks for data: Helper.Level.
//   - Link and Hint, what a link is worth before anything is requested: Helper.Link.
//
// A caller calls See for each page, then Level, then Link for each of its links. The helper advises: it decides neither
// what is requested nor in which order, and does not know robots.txt. A Helper may be used by several goroutines, a
// Site by one at a time.
//
// Pages and addresses are a stranger's: everything that is read of them is bounded, and expressions take linear time.
package software

import (
	"cmp"
	"net/http"
	"slices"

	"golang.org/x/net/html"
)

// Level is what a page is for somebody who looks for data.
type Level string

// Levels of pages.
const (
	Unknown  Level = ""
	Home     Level = "home"
	List     Level = "list"     // leads to items or to further lists: a section, a category, a result with pages, a folder of folders
	Item     Level = "item"     // is about one thing: an article, a dataset with its files, a contact
	FileList Level = "filelist" // lists files: a folder, a table of downloads
	File     Level = "file"     // is a file, not a page
	Noise    Level = "noise"    // shows again what other pages show: print views, sort orders, search results, feeds of comments
	Trap     Level = "trap"     // one of endlessly many: days of a calendar, combinations of filters, tiles of a map
	Login    Level = "login"    // asks for an account, or changes something
)

// Levels returns all levels but Unknown.
func Levels() []Level { return []Level{Home, List, Item, FileList, File, Noise, Trap, Login} }

// Site is what is known of a site so far.
type Site struct {
	Systems []System      `json:"systems,omitempty"` // the most certain first, at most maxSystems
	Pages   map[Level]int `json:"pages,omitempty"`   // number of pages seen of each level
	Seen    int           `json:"seen,omitempty"`    // number of pages seen
}

// System is software with what gives it away.
type System struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"` // if a sign shows it
	Weight  int      `json:"weight"`            // of the signs found; Sure and more is certain
	Because []string `json:"because"`           // signs, one phrase each, at most maxSigns
}

// Sure is the weight of signs that leaves no doubt. From Likely on, the rules of the software apply.
const (
	Sure   = 80
	Likely = 40
)

const (
	maxSystems = 8
	maxSigns   = 8
)

// Software returns the name of the site's software, "" if it is not known.
func (s *Site) Software() string {
	if len(s.Systems) == 0 || s.Systems[0].Weight < Likely {
		return ""
	}
	return s.Systems[0].Name
}

// Page is an answer of a site. The exported fields must not change after the first call with it.
type Page struct {
	URL     string // after redirects
	Status  int    // 0 stands for 200
	Header  http.Header
	Cookies []string   // names of cookies that the site has set; those of Header need not be named
	Root    *html.Node // nil if the answer is not HTML

	marks *marks // what the rules look at, read once
}

// Link is a link of a page.
type Link struct {
	URL      string // absolute
	Text     string // of the anchor, or its title or image's alt text
	Rel      string
	Path     string // of tags and first classes from the root, as "body/main/ul.pager/li/a"
	Type     string // media type that the page declares for the target
	Download bool   // the anchor has the attribute download
}

// Hint is what a link is worth before anything is requested. The zero Hint says nothing, except that URL is always set.
type Hint struct {
	URL      string  // the address without session ids, sort orders and the like: what should be requested
	Level    Level   // what the target is by its address, often Unknown
	File     float64 // confidence that the target is a data file, 0 to 1; 1 if its extension says so
	Format   string  // format that the address, the declared type or the anchor names, as an extension: "csv"; "" if none
	Document bool    // the target is a file of another kind, such as a PDF or a picture
	Follow   bool    // leads towards data in this software, such as the next page of a list
	Avoid    string  // why the target is not worth a request; "" if it may be
	Boost    float64 // what the software says of the link's worth, -1 to 1
	Why      string  // rule that decided, "" if none
}

// See adds what a page shows to the site: signs of software, and the level of the page, which it returns.
func (h *Helper) See(site *Site, page *Page) Level {
	h.recognise(site, page)
	level := h.Level(site, page)
	site.Seen++
	if level != Unknown {
		if site.Pages == nil {
			site.Pages = map[Level]int{}
		}
		site.Pages[level]++
	}
	return level
}

// recognise adds the signs of software that a page shows.
func (h *Helper) recognise(site *Site, page *Page) {
	m := h.marks(page)
	for i := range h.systems {
		if found := h.systems[i].found(page, m); len(found.Because) > 0 {
			site.add(found)
		}
	}
	site.sort()
}

// Add adds what was seen elsewhere of the same site.
func (s *Site) Add(other Site) {
	for _, found := range other.Systems {
		s.add(found)
	}
	s.sort()
	s.Seen += other.Seen
	for level, n := range other.Pages {
		if s.Pages == nil {
			s.Pages = map[Level]int{}
		}
		s.Pages[level] += n
	}
}

// sort puts the most certain system first.
func (s *Site) sort() {
	slices.SortStableFunc(s.Systems, func(a, b System) int { return cmp.Compare(b.Weight, a.Weight) })
	if len(s.Systems) > maxSystems {
		s.Systems = s.Systems[:maxSystems]
	}
}

// Name returns the site's software with its version, as "Drupal 10"; "" if it is not known.
func (s *Site) Name() string {
	name := s.Software()
	if name != "" && s.Systems[0].Version != "" {
		name += " " + s.Systems[0].Version
	}
	return name
}

// add adds what one page shows of a system. Pages of one system show the same signs, so the weight of a site is that of
// its most telling page, and not a sum over pages.
func (s *Site) add(found System) {
	i := slices.IndexFunc(s.Systems, func(known System) bool { return known.Name == found.Name })
	if i < 0 {
		s.Systems = append(s.Systems, found)
		return
	}
	known := &s.Systems[i]
	known.Weight = max(known.Weight, found.Weight)
	known.Version = cmp.Or(known.Version, found.Version)
	for _, because := range found.Because {
		if len(known.Because) < maxSigns && !slices.Contains(known.Because, because) {
			known.Because = append(known.Because, because)
		}
	}
}
