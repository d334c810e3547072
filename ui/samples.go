package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/tables"
)

// sample is the beginning of a table in a file that is not delimited text: a sheet, an array of objects, Parquet.
type sample struct {
	Name   string
	Header []string
	Rows   [][]string
	More   bool // the table has more rows
}

// Limits for reading samples. A workbook has to be unpacked first.
const (
	sampleTables  = 5
	sampleBytes   = 8 << 20
	sampleUnpack  = 64 << 20
	sampleTime    = 2 * time.Second
	samplesAtOnce = 2 // pages that read samples at the same time
)

// samples returns the first rows of the tables in a version. It returns none if the file is too large or cannot be
// read; the page shows the columns anyway.
func (u *UI) samples(ctx context.Context, v catalog.Version, in *inspect.Inside) []sample {
	if in == nil || len(in.Tables) == 0 || !tables.Known(v.Type) {
		return nil
	}
	select {
	case u.sampling <- struct{}{}:
		defer func() { <-u.sampling }()
	case <-ctx.Done():
		return nil
	}
	found, err := u.readSamples(ctx, v)
	if err != nil {
		u.log.DebugContext(ctx, "first rows not shown", "version", v.ID, "err", err)
	}
	return found
}

func (u *UI) readSamples(ctx context.Context, v catalog.Version) (list []sample, err error) {
	f, err := u.archive.Open(ctx, v.ID)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := v.Size
	body, random := f.(io.ReaderAt)
	switch {
	case isTextual(v.Type): // the beginning of a text is enough; its last record may be cut off
		size = min(size, previewBytes)
	case v.Type == "application/vnd.apache.parquet" && random: // only the rows that are needed are read
	case v.Size > sampleBytes:
		return nil, nil
	}
	if !random {
		text, err := io.ReadAll(io.LimitReader(f, size))
		if err != nil {
			return nil, fmt.Errorf("ui: first rows of %s: %w", v.ID, err)
		}
		body = strings.NewReader(string(text))
	}
	doc, err := u.examine.Open(ctx, examine.Visitors, examine.About{SHA256: v.Digests.SHA256, URL: v.URL},
		examine.Body{Size: size, R: body})
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	found, err := doc.Sample(ctx, examine.File{Found: detect.Detection{Type: v.Type, Charset: v.Charset}}, examine.SampleLimits{
		Tables: sampleTables, Rows: previewRows, Bytes: sampleBytes, Unpack: sampleUnpack, Time: sampleTime})
	for _, t := range found {
		s := sample{Name: t.Name, More: t.More}
		for _, name := range t.Columns[:min(len(t.Columns), previewCols)] {
			s.Header = append(s.Header, shorten(name))
		}
		for _, row := range t.Rows {
			row = row[:min(len(row), len(s.Header))]
			shown := make([]string, len(s.Header))
			for i, cell := range row {
				shown[i] = shorten(strings.ToValidUTF8(cell, "\uFFFD"))
			}
			s.Rows = append(s.Rows, shown)
		}
		list = append(list, s)
	}
	return list, err
}
