package crawl

import (
	"context"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/tape"
	"odarchive/crawler/exchange/warc"
)

// openTapes opens the directories of WARC files that the settings name.
func (c *Crawl) openTapes() (err error) {
	settings := c.store.Config.Fetch
	if c.Tape, err = c.openTape(settings.WARC, ""); err != nil {
		return err
	}
	c.Answers, err = c.openTape(settings.KeepAnswers, "answers")
	return err
}

// openTape opens one directory, for files with a prefix. It returns nil if there is none.
func (c *Crawl) openTape(path, prefix string) (*tape.Tape, error) {
	if path == "" || c.store.DB.ReadOnly() {
		return nil, nil
	}
	dir, err := warc.OpenDir(path, warc.DirOptions{Prefix: prefix, Info: warcInfo(c.store), Now: c.store.Clock, Log: c.store.Log})
	if err != nil {
		return nil, err
	}
	c.warcs = append(c.warcs, dir)
	kind := store.WARCCopy
	if prefix != "" {
		kind = store.AnswersCopy
	}
	if err := c.store.NoteCopy(context.Background(), kind, path); err != nil {
		return nil, err
	}
	t := tape.New(dir, c.store.Clock, c.store.Log)
	t.Refuses = c.refuses
	return t, nil
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
