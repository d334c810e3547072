package crawler

import (
	"context"
	"strings"

	"odarchive/crawler/web/fetch"
)

// maxHubHead is how much of a page or feed is searched for a hub, in bytes.
const maxHubHead = 64 << 10

// noteHub notes the hub that a response names, which will say when the file changes.
func (p *Pipeline) noteHub(ctx context.Context, url string, ex *fetch.Exchange) error {
	if !p.Hubs.Wants() || ex.Status != 200 && ex.Status != 304 {
		return nil
	}
	var head []byte
	if ex.Body != nil && mayNameHub(ex.ContentType) {
		var err error
		if head, err = ex.Body.Head(maxHubHead); err != nil {
			return err
		}
	}
	return p.Hubs.Note(ctx, url, ex.FinalURL, ex.ResponseHeader, head, ex.Status == 304)
}

// mayNameHub reports whether files of a media type may have link elements: feeds and pages.
func mayNameHub(contentType string) bool {
	t := strings.ToLower(contentType)
	return strings.Contains(t, "xml") || strings.Contains(t, "html")
}
