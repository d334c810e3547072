package rest

import (
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/target"
)

// Dataset is a crawled URL in the shape of the original API. Times are RFC 3339, intervals are in seconds.
type Dataset struct {
	ID       string    `json:"_id"`
	Href     string    `json:"id"`
	URL      Address   `json:"url"`
	Meta     Meta      `json:"meta"`
	Crawl    CrawlInfo `json:"crawl_info"`
	Versions []File    `json:"versions"`
	Page     string    `json:"page"`    // for people
	TimeMap  string    `json:"timemap"` // RFC 7089
}

// Address is a URL in parts, as browsers split it.
type Address struct {
	Href     string `json:"href"`
	Origin   string `json:"origin"`
	Protocol string `json:"protocol"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
}

// Meta is metadata from portals and from detection.
type Meta struct {
	Title        string    `json:"title"`
	Filename     string    `json:"filename"`
	Filetype     string    `json:"filetype"`  // media type
	Extension    string    `json:"extension"` // without a dot
	VersionCount int       `json:"versionCount"`
	InsertDate   *JSONTime `json:"insertDate"`
	Source       []string  `json:"source"`     // portal IRIs
	References   []string  `json:"references"` // dataset IRIs
	Format       string    `json:"format,omitempty"`
}

// CrawlInfo is the state of crawling the URL.
type CrawlInfo struct {
	FirstCrawl         bool      `json:"firstCrawl"`    // not yet crawled
	CrawlInterval      *float64  `json:"crawlInterval"` // null before the schedule has set one
	NextCrawl          *JSONTime `json:"nextCrawl"`
	LastCrawlAttempt   *JSONTime `json:"lastCrawlAttempt"`
	Stopped            bool      `json:"stopped"`
	ErrorCount         int       `json:"errorCount"`
	ErrorStore         []Failure `json:"errorStore"`
	ChangeDistribution []Change  `json:"changeDistribution"`
	Outcome            string    `json:"outcome,omitempty"`
}

// Failure is a fetch that kept no version.
type Failure struct {
	Time       JSONTime `json:"time"`
	Outcome    string   `json:"outcome"`
	ErrorClass string   `json:"errorClass,omitempty"`
	Status     int      `json:"status,omitempty"`
	Why        string   `json:"why,omitempty"`
}

// Change is a visit that compared bytes: whether they were new, and the seconds since the visit before, null for
// the first.
type Change struct {
	NewFile  bool     `json:"newFile"`
	Interval *float64 `json:"interval"`
}

// File is a version in the shape of the original API.
type File struct {
	ID         string       `json:"_id"`
	Length     int64        `json:"length"`
	UploadDate JSONTime     `json:"uploadDate"`
	Filename   string       `json:"filename"`
	MD5        string       `json:"md5"`
	Metadata   FileMetadata `json:"metadata"`
	SHA256     string       `json:"sha256"`
	IRI        string       `json:"iri"`
}

// FileMetadata names a file's dataset.
type FileMetadata struct {
	DatasetID  string `json:"dataset_ref_id"`
	DatasetURL string `json:"dataset_ref_url"`
	Version    int    `json:"version"`
	Filetype   string `json:"filetype"`
	Charset    string `json:"charset,omitempty"`
}

// JSONTime is a time in the format of JavaScript: UTC with milliseconds.
type JSONTime time.Time

// MarshalText implements encoding.TextMarshaler.
func (t JSONTime) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// orNull returns nil, for null, if t is the zero time.
func orNull(t time.Time) *JSONTime {
	if t.IsZero() {
		return nil
	}
	j := JSONTime(t)
	return &j
}

// seconds returns nil, for null, if d is 0.
func seconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// DatasetByURL answers GET /get/dataset/{URL} and the original's longer form, /get/dataset/url/{URL}.
func (a *API) DatasetByURL(w http.ResponseWriter, r *http.Request) error {
	address, _, err := target.URL(r)
	if err != nil {
		return err
	}
	return a.writeDataset(w, r, address)
}

// DatasetByID answers GET /get/dataset/id/{ID}.
func (a *API) DatasetByID(w http.ResponseWriter, r *http.Request) error {
	return a.writeDataset(w, r, target.Value(r, "id"))
}

// FileByDataset redirects the original's GET /get/file/dsid/{ID} to the latest version of that dataset.
func (a *API) FileByDataset(w http.ResponseWriter, r *http.Request) error {
	resource, err := a.archive.Resource(r.Context(), target.Value(r, "id"))
	if err != nil {
		return err
	}
	target.Redirect(w, "/get/file/"+url.PathEscape(resource.URL), http.StatusTemporaryRedirect)
	return nil
}

// FileByNamedURL redirects the original's longer form, GET /get/file/url/{URL}, to /get/file/{URL}.
func (a *API) FileByNamedURL(w http.ResponseWriter, r *http.Request) error {
	address, _, err := target.URL(r)
	if err != nil {
		return err
	}
	target.Redirect(w, "/get/file/"+url.PathEscape(address), http.StatusTemporaryRedirect)
	return nil
}

func (a *API) writeDataset(w http.ResponseWriter, r *http.Request, urlOrID string) error {
	resource, err := a.archive.Resource(r.Context(), urlOrID)
	if err != nil {
		return err
	}
	d, err := a.dataset(r.Context(), resource)
	if err != nil {
		return err
	}
	return answer.JSON(w, r, d)
}

// dataset returns the document of a resource.
func (a *API) dataset(ctx context.Context, res catalog.Resource) (Dataset, error) {
	versions, err := a.archive.Versions(ctx, res.URL)
	if err != nil {
		return Dataset{}, err
	}
	visits, err := a.archive.Activities(ctx, catalog.ActivityQuery{URL: res.URL, Limit: 20})
	if err != nil {
		return Dataset{}, err
	}
	d := Dataset{
		ID: res.ID, Href: res.URL, URL: addressOf(res.URL), Page: a.mint.Page(res.URL), TimeMap: a.mint.TimeMap(res.URL),
		Meta: Meta{Title: cmp.Or(res.Title, res.DatasetTitle), Filename: res.FileName, Filetype: res.MediaType, Extension: extension(res),
			VersionCount: res.Versions - res.ErrorPages,
			InsertDate:   orNull(res.Added), Source: orEmpty(res.Portals), References: orEmpty(res.Datasets), Format: res.Format},
		Crawl: CrawlInfo{FirstCrawl: res.Visits == 0, CrawlInterval: seconds(res.Interval), NextCrawl: orNull(res.NextVisit),
			LastCrawlAttempt: orNull(res.LastVisit), Stopped: res.Stopped, ErrorCount: res.Errors, Outcome: string(res.Outcome),
			ErrorStore: failures(visits), ChangeDistribution: changes(visits)},
		Versions: make([]File, len(versions)),
	}
	for i, v := range versions {
		d.Versions[i] = a.file(res, v)
	}
	return d, nil
}

func (a *API) file(res catalog.Resource, v catalog.Version) File {
	return File{ID: v.ID, Length: v.Size, UploadDate: JSONTime(v.At), Filename: v.FileName,
		MD5: hex.EncodeToString(v.Digests.MD5[:]), SHA256: hex.EncodeToString(v.Digests.SHA256[:]), IRI: a.mint.Version(v.ID),
		Metadata: FileMetadata{DatasetID: res.ID, DatasetURL: res.URL, Version: v.N, Filetype: v.Type, Charset: v.Charset}}
}

// failures returns the visits that kept no version, oldest first. visits are newest first.
func failures(visits []catalog.Activity) []Failure {
	out := []Failure{}
	for i := len(visits) - 1; i >= 0; i-- {
		v := visits[i]
		if v.Outcome == catalog.Archived || v.Outcome == catalog.Unchanged {
			continue
		}
		out = append(out, Failure{Time: JSONTime(v.Start), Outcome: string(v.Outcome), ErrorClass: string(v.ErrorClass), Status: v.Status,
			Why: v.Why})
	}
	return out
}

// changes returns the visits that compared bytes, oldest first. visits are newest first.
func changes(visits []catalog.Activity) []Change {
	out := []Change{}
	var before time.Time
	for i := len(visits) - 1; i >= 0; i-- {
		v := visits[i]
		if v.Outcome != catalog.Archived && v.Outcome != catalog.Unchanged {
			continue
		}
		c := Change{NewFile: v.Outcome == catalog.Archived}
		if !before.IsZero() {
			since := v.Start.Sub(before).Seconds()
			c.Interval = &since
		}
		before = v.Start
		out = append(out, c)
	}
	return out
}

// addressOf splits a URL as browsers do. One that is not valid has a Href only.
func addressOf(raw string) Address {
	a := Address{Href: raw}
	u, err := address.Parse(raw)
	if err != nil {
		return a
	}
	a.Origin, a.Protocol, a.Host, a.Port, a.Pathname = u.Authority(), u.Scheme+":", u.Group(), u.Port, u.Path
	a.Hostname, _ = u.Address()
	if u.Query != "" {
		a.Search = "?" + u.Query
	}
	if _, fragment, _ := strings.Cut(raw, "#"); fragment != "" {
		a.Hash = "#" + fragment
	}
	return a
}

// extension returns the extension of the latest version's type, of its name, or of the declared format, whichever is
// known first.
func extension(res catalog.Resource) string {
	if ext := ExtensionOf(res.MediaType); ext != "" {
		return ext
	}
	if ext := strings.TrimPrefix(path.Ext(res.FileName), "."); ext != "" {
		return strings.ToLower(ext)
	}
	return ExtensionOf(MediaType(res.Format))
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
