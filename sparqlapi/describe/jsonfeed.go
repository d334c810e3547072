package describe

import (
	"bytes"
	"encoding/json"

	"odarchive/crawler/archive/events"
)

// The members of JSON Feed 1.1 that feeds use.
type jsonFeed struct {
	Version string     `json:"version"`
	Title   string     `json:"title"`
	Home    string     `json:"home_page_url"`
	Self    string     `json:"feed_url"`
	Next    string     `json:"next_url,omitempty"`
	Hubs    []jsonHub  `json:"hubs,omitempty"`
	Authors []jsonName `json:"authors"`
	Items   []jsonItem `json:"items"`
}

type jsonHub struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type jsonName struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type jsonItem struct {
	ID        string        `json:"id"`
	URL       string        `json:"url"`
	External  string        `json:"external_url,omitempty"`
	Title     string        `json:"title"`
	Text      string        `json:"content_text"`
	Published string        `json:"date_published"`
	Tags      []string      `json:"tags"`
	Change    events.Change `json:"_odarchive"` // an extension (JSON Feed 1.1, "Extensions"): the event for programs
}

// writeJSON writes a feed as JSON Feed.
func (a *FeedsAPI) writeJSON(out *bytes.Buffer, f feed) error {
	doc := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.title, Home: f.home, Self: f.id, Next: f.next,
		Authors: []jsonName{{"ODArchive", a.Mint.Base}}, Items: []jsonItem{},
	}
	if a.Hub != "" {
		doc.Hubs = []jsonHub{{"WebSub", a.Hub}}
	}
	for i, e := range f.List {
		one := f.items[i]
		doc.Items = append(doc.Items, jsonItem{
			ID: one.id, URL: one.page, External: one.via, Title: one.title, Text: one.summary, Published: one.time,
			Tags: e.Kinds, Change: events.Describe(a.Mint, e),
		})
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
