package ui

import (
	"net/url"

	"odarchive/crawler/archive/search"
	"odarchive/crawler/catalog"
)

// feedLink is what a feed of changes is about, as a query string for /feed.atom and /feed.json: "" for the whole
// archive.
type feedLink struct{ Query string }

// feedOf returns the feed of a file (url), a dataset, a portal, or a search (q).
func feedOf(parameter, value string) *feedLink {
	return &feedLink{"?" + url.Values{parameter: {value}}.Encode()}
}

// feedOfSearch returns the feed of what a search finds.
func feedOfSearch(s catalog.Search) *feedLink {
	switch text := search.Text(s); text {
	case "":
		return &feedLink{}
	case search.Text(catalog.Search{Portal: s.Portal}):
		return feedOf("portal", s.Portal)
	case search.Text(catalog.Search{Dataset: s.Dataset}):
		return feedOf("dataset", s.Dataset)
	default:
		return feedOf("q", text)
	}
}

// Breaking returns the query string for only those changes that may break what uses the files.
func (f feedLink) Breaking() string {
	sep := "?"
	if f.Query != "" {
		sep = f.Query + "&"
	}
	return sep + "kind=schema,shrunk,gone,licence"
}
