package crawl

import (
	"odarchive/cmd/internal/store"
	"odarchive/crawler/warc"
	"odarchive/crawler/warc/tape"
)

// openTape opens the directory of WARC files that the settings name.
func (c *Crawl) openTape() error {
	dir := c.store.Config.Fetch.WARC
	if dir == "" || c.store.DB.ReadOnly() {
		return nil
	}
	var err error
	if c.warc, err = warc.OpenDir(dir, warc.DirOptions{Info: warcInfo(c.store), Now: c.store.Clock}); err != nil {
		return err
	}
	c.Tape = tape.New(c.warc, c.store.Clock, c.store.Log)
	return nil
}

// warcInfo returns the fields of warcinfo records.
func warcInfo(s *store.Store) []warc.Field {
	settings := s.Config.Fetch
	fields := []warc.Field{
		{Name: "software", Value: "odarchive"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "isPartOf", Value: s.Config.Base},
		{Name: "http-header-user-agent", Value: userAgent(settings.UserAgent)},
		{Name: "robots", Value: "obey"},
	}
	if settings.Contact != "" {
		fields = append(fields, warc.Field{Name: "operator", Value: settings.Contact})
	}
	return fields
}
