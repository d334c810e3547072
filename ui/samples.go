package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/tables"
)

// sample is the beginning of a table in a file that is no delimited text: a sheet, an array of objects, Parquet.
type sample struct {
	Name   string
	Header []string
	Rows   [][]string
	More   bool // the table goes on
}

// A page shows the first rows of such tables where that costs little; workbooks have to be unpacked for it.
const (
	sampleTables  = 5
	sampleBytes   = 8 << 20
	sampleUnpack  = 64 << 20
	sampleTime    = 2 * time.Second
	samplesAtOnce = 2 // pages that read them at the same time
)

// samples gives the first rows of the tables that a version is known to hold. They are left out where the file is too
// large, and where it cannot be read again: its columns are told all the same.
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
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
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
	input := tables.Input{Type: v.Type, Charset: v.Charset, Size: v.Size}
	body, random := f.(io.ReaderAt)
	switch {
	case isTextual(v.Type): // the beginning of a text is enough, and its last record is likely cut off
		input.Size = min(input.Size, previewBytes)
	case v.Type == "application/vnd.apache.parquet" && random: // only what is asked for is read of it
	case v.Size > sampleBytes:
		return nil, nil
	}
	if !random {
		text, err := io.ReadAll(io.LimitReader(f, input.Size))
		if err != nil {
			return nil, fmt.Errorf("ui: first rows of %s: %w", v.ID, err)
		}
		body = strings.NewReader(string(text))
	}
	input.Body = body
	found, err := tables.Read(ctx, input, tables.Options{MaxRows: previewRows + 1, MaxTables: sampleTables, MaxBytes: sampleBytes, MaxUnpack: sampleUnpack, Sample: previewRows})
	for _, t := range found {
		s := sample{Name: t.Name, More: t.Truncated || t.Rows > int64(len(t.Sample))}
		for _, c := range t.Columns[:min(len(t.Columns), previewCols)] {
			s.Header = append(s.Header, shorten(c.Name))
		}
		for _, row := range t.Sample {
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
