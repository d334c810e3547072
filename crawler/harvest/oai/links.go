package oai

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
)

// isURL reports whether s is an address that can be fetched.
func isURL(s string) bool {
	if !hasScheme(s) || strings.ContainsAny(s, " \t\r\n<>\"") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Host != ""
}

func hasScheme(s string) bool {
	for _, scheme := range []string{"http://", "https://", "ftp://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// address adds an address that identifies the record: as a file if it looks like one, else as a page.
func (b *builder) address(value string) {
	for _, word := range strings.Fields(value) {
		word = strings.TrimRight(word, ".,;)")
		switch {
		case isURL(word) && harvest.IsFile(word):
			b.file(harvest.Distribution{URL: word})
		case isURL(word):
			b.pages = append(b.pages, word)
		}
	}
	if doi, ok := doiOf(value); ok {
		b.pages = append(b.pages, "https://doi.org/"+doi)
	}
}

// doiOf returns the DOI in "doi:10.5281/zenodo.1" or "10.5281/zenodo.1".
func doiOf(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 4 && strings.EqualFold(s[:4], "doi:") {
		s = strings.TrimSpace(s[4:])
	}
	prefix, rest, ok := strings.Cut(s, "/")
	if !ok || rest == "" || !strings.HasPrefix(prefix, "10.") || strings.ContainsAny(s, " \t\r\n<>\"") {
		return "", false
	}
	return s, true
}

// mention adds the files among addresses that are related to the record.
func (b *builder) mention(value string) {
	for _, word := range strings.Fields(value) {
		if word = strings.TrimRight(word, ".,;)"); isURL(word) && harvest.IsFile(word) {
			b.file(harvest.Distribution{URL: word})
		}
	}
}

// format reads a media type, words, or either with the address of a file.
func (b *builder) format(value string) {
	words := strings.Fields(value)
	mediaType := ""
	for _, word := range words {
		switch {
		case isURL(word) && (harvest.IsFile(word) || mediaType != ""):
			b.file(harvest.Distribution{URL: word, MediaType: mediaType})
			return
		case isMediaType(word):
			mediaType = strings.TrimRight(word, ";,")
		}
	}
	if mediaType != "" {
		b.types = append(b.types, mediaType)
	}
}

func isMediaType(s string) bool {
	top, sub, ok := strings.Cut(s, "/")
	switch top {
	case "application", "text", "image", "audio", "video", "model", "multipart", "chemical", "font":
		return ok && sub != "" && !strings.Contains(sub, "/")
	}
	return false
}

func (b *builder) file(d harvest.Distribution) {
	for i := range b.files {
		if b.files[i].URL == d.URL {
			have := &b.files[i]
			have.MediaType, have.Title, have.Size = cmp.Or(have.MediaType, d.MediaType), cmp.Or(have.Title, d.Title), max(have.Size, d.Size)
			return
		}
	}
	b.files = append(b.files, d)
}

// links makes distributions of the files or, if the record names none, of its pages, behind which a file may be.
func (b *builder) links() {
	if len(b.pages) > 0 && b.d.LandingPage == "" {
		b.d.LandingPage = b.pages[0]
	}
	if len(b.files) == 0 {
		for _, p := range b.pages {
			b.file(harvest.Distribution{URL: p})
		}
	}
	if len(b.files) == 1 && len(b.types) == 1 && b.files[0].MediaType == "" && harvest.IsFile(b.files[0].URL) {
		b.files[0].MediaType = b.types[0]
	}
	b.d.Distributions = append(b.d.Distributions, b.files...)
}

// size parses a size in bytes. It returns 0 for anything else.
func size(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
