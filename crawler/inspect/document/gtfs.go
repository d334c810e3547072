package document

import (
	"archive/zip"
	"bytes"
	"context"
	encodingcsv "encoding/csv"
	"fmt"
	"path"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// feed recognises a GTFS feed by its files and reads who publishes it (gtfs.org/schedule/reference). Other zips say
// nothing.
func feed(_ context.Context, in source.Input, d *Document) error {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil {
		return nil // the listing of its members reports it
	}
	names := map[string]string{} // by base name
	for i, f := range z.File {
		if i >= 10_000 {
			break
		}
		if base := strings.ToLower(path.Base(f.Name)); names[base] == "" {
			names[base] = f.Name
		}
	}
	timed := names["calendar.txt"] != "" || names["calendar_dates.txt"] != ""
	if names["agency.txt"] == "" || names["routes.txt"] == "" || names["trips.txt"] == "" || names["stop_times.txt"] == "" || !timed {
		return nil
	}
	d.Standard, d.Conforms = "GTFS", "https://gtfs.org/documentation/schedule/reference/"
	var agencies []string
	for _, a := range records(part(z, names["agency.txt"])) {
		if name := a["agency_name"]; name != "" && len(agencies) < 20 {
			agencies = append(agencies, name)
		}
		d.Languages = append(d.Languages, a["agency_lang"])
	}
	d.Creator = strings.Join(agencies, "; ")
	if feeds := records(part(z, names["feed_info.txt"])); len(feeds) > 0 {
		info := feeds[0] // the table has one row
		d.Creator = firstOf(info["feed_publisher_name"], d.Creator)
		d.Languages = append([]string{info["feed_lang"]}, d.Languages...)
		for _, k := range []string{"feed_version", "feed_publisher_url"} {
			if v := info[k]; v != "" {
				d.Attributes = append(d.Attributes, Attribute{k, v})
			}
		}
		for _, k := range []string{"feed_start_date", "feed_end_date"} {
			if v := xsdTime(info[k]); v != "" {
				d.Attributes = append(d.Attributes, Attribute{k, v})
			}
		}
	}
	if len(agencies) > 0 {
		d.Title = fmt.Sprintf("Timetable of %s", strings.Join(agencies[:min(len(agencies), 3)], ", "))
	}
	return nil
}

// records returns the first records of a small table with a header.
func records(raw []byte) (all []map[string]string) {
	r := encodingcsv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	header, err := r.Read()
	for err == nil && len(all) < 100 {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		m := map[string]string{}
		for i, v := range row[:min(len(row), len(header))] {
			m[strings.TrimSpace(header[i])] = strings.TrimSpace(v)
		}
		all = append(all, m)
	}
	return all
}
