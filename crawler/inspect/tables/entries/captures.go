package entries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// maxField bounds a field of a record in bytes.
const maxField = 8 << 10

// captures profiles the records of a web archive (WARC or ARC): what each is, of which address, from when, with which
// status and media type.
func captures(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	r := warc.NewReader(io.NewSectionReader(in.Body, 0, in.Size), warc.Limits{})
	n := int64(0)
	p, err := csvprofile.ReadRows(ctx, "records",
		[]string{"type", "target URI", "date", "status", "media type", "length", "payload digest", "record id"}, func() ([]string, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rec, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					err = fmt.Errorf("%w: after %d records: %v", source.ErrFormat, n, err)
				}
				return nil, err
			}
			n++
			date := ""
			if at, err := rec.Date(); err == nil {
				date = at.UTC().Format("2006-01-02T15:04:05.999999999Z")
			}
			media := rec.Header.Get("Content-Type")
			status := ""
			if strings.HasPrefix(strings.ToLower(media), "application/http") && (rec.Type == "response" || rec.Type == "revisit") {
				if m, _, err := warc.ReadMessage(rec.Block); err == nil {
					status, media = statusOf(m), m.Header.Get("Content-Type")
				}
			}
			media, _, _ = strings.Cut(media, ";")
			return []string{
				short(rec.Type), short(rec.URI()), date, status, short(strings.ToLower(strings.TrimSpace(media))),
				strconv.FormatInt(rec.ContentLength, 10), short(rec.Header.Get("WARC-Payload-Digest")), short(strings.Trim(rec.ID(), "<>")),
			}, nil
		}, o.Reading(0))
	if err != nil || !source.Worthwhile(p) {
		return nil, err
	}
	return []*csvprofile.Profile{p}, nil
}

// statusOf returns the status code of a message, "" if it has none.
func statusOf(m *warc.Message) string {
	fields := strings.Fields(m.StartLine)
	if len(fields) < 2 || len(fields[1]) != 3 || strings.Trim(fields[1], "0123456789") != "" {
		return ""
	}
	return fields[1]
}

// short returns a field as valid UTF-8 of at most maxField bytes.
func short(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxField)], "\uFFFD") }
