package examine

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/tables"
)

// Sample is the beginning of a table.
type Sample struct {
	Name    string
	Columns []string
	Rows    [][]string
	More    bool // the table has more rows
}

// SampleLimits are limits of Sample: of tables, rows of each, bytes read and bytes unpacked.
type SampleLimits struct {
	Tables, Rows  int
	Bytes, Unpack int64
	Time          time.Duration
}

// Sample returns the first rows of the tables of the document, or of as many as could be read; file.Found is its kind.
func (d *Document) Sample(ctx context.Context, file File, limits SampleLimits) ([]Sample, error) {
	if d.child == nil {
		limited, cancel := context.WithTimeout(ctx, limits.Time)
		defer cancel()
		return contained(func() ([]Sample, error) { return sample(limited, file, limits, d.bodies[0].Size, d.bodies[0].R) })
	}
	answer, err := d.ask(ctx, "sample", sampleArgs{file, limits}, limits.Time)
	if err != nil {
		return nil, err
	}
	var found []Sample
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, nonsense(err)
	}
	return found[:min(len(found), limits.Tables)], nil
}

type sampleArgs struct {
	File   File
	Limits SampleLimits
}

func sample(ctx context.Context, file File, limits SampleLimits, size int64, body io.ReaderAt) (list []Sample, err error) {
	found, err := tables.Read(ctx, tables.Input{Type: file.Found.Type, Charset: file.Found.Charset, Size: size, Body: body},
		tables.Options{MaxRows: int64(limits.Rows) + 1, MaxTables: limits.Tables, MaxBytes: limits.Bytes, MaxUnpack: limits.Unpack,
			Sample: limits.Rows})
	for _, t := range found {
		s := Sample{Name: t.Name, More: t.Truncated || t.Rows > int64(len(t.Sample)), Rows: t.Sample}
		for _, c := range t.Columns {
			s.Columns = append(s.Columns, c.Name)
		}
		list = append(list, s)
	}
	return list, err
}

func opSample(j *apart.Job) ([]byte, error) {
	args, err := argsOf[sampleArgs](j)
	if err != nil {
		return nil, err
	}
	list, err := sample(j.Context, args.File, args.Limits, j.Bodies[0].Size(), j.Bodies[0])
	if err != nil && len(list) == 0 {
		return nil, err
	}
	return json.Marshal(list)
}
