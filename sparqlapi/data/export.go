package data

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/examine"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/data/rowfile"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

const (
	fileTime   = 30 * time.Minute // for one file
	fileBuffer = 64 << 10         // bytes
)

// Table answers GET /get/file/id/{id}/table.{ext} with the whole table as a file.
func (a *RowsAPI) Table(w http.ResponseWriter, r *http.Request) error {
	return a.file(w, r, target.Value(r, "ext"))
}

// file answers with rows of a table as a file, those that the parameters ask for: all by default.
func (a *RowsAPI) file(w http.ResponseWriter, r *http.Request, name string) error {
	q := r.URL.Query()
	format, err := formatOf(name)
	if err != nil {
		return err
	}
	f := &file{format: format,
		request: RowsRequest{Version: target.Value(r, "id"), Table: q.Get("table"), Where: q.Get("where"), Order: q["order"]}}
	if f.request.Offset, err = target.Int(q, "offset", 0, 0, maxOffset); err != nil {
		return err
	}
	if f.request.Limit, err = target.Int(q, "limit", 0, 0, maxOffset); err != nil {
		return err
	}
	if f.plain, err = texts1(q.Get("values")); err != nil {
		return err
	}
	ctx := r.Context()
	v, err := a.archive.Version(ctx, f.request.Version)
	if err != nil {
		return err
	}
	all, in, err := a.archive.Tables(ctx, v)
	if err != nil {
		return err
	}
	table, err := choose(v, all, in, f.request.Table)
	if err != nil {
		return err
	}
	if err := v.Available(); err != nil {
		return err
	}
	if err := f.prepare(table, a.odd.of(v, table)); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=86400") // a version never changes; how it is read may
	tag := answer.Tag(fmt.Appendf(nil, "%x %q %s %s", v.Digests.SHA256, nameOf(table), name, r.URL.RawQuery))
	h.Set("ETag", tag)
	if answer.Matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", format.Type)
	h.Set("Content-Disposition", disposition(v, table, len(all), format.Name))
	if table.Profile.Truncated {
		h.Set("X-Truncated", "true") // the archive has not read the whole table
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	leave, err := a.files.Enter(ctx, access.ClientOf(ctx))
	if err != nil {
		return withoutTag(w, refused(err))
	}
	defer leave()
	limited, cancel := context.WithTimeout(examine.Exporting(ctx), fileTime)
	defer cancel()
	return a.send(ctx, limited, w, v, table, f)
}

// send writes the file. Once something has been sent, an error breaks the connection, so that the client does not take
// what it has for the whole.
func (a *RowsAPI) send(ctx, limited context.Context, w http.ResponseWriter, v catalog.Version, table archive.Table, f *file) error {
	out := &counted{w: w}
	for {
		err := f.write(limited, a, v, table, out)
		if err == nil {
			return nil
		}
		odd, ok := errors.AsType[*rowfile.OddError](err)
		if ok {
			a.odd.add(v, table, odd.Column)
		}
		switch {
		case out.n > 0:
			panic(http.ErrAbortHandler)
		case ok && f.fields[odd.Column].Kind != rowfile.Text:
			f.fields[odd.Column].Kind = rowfile.Text // and again, from the beginning
			continue
		}
		return withoutTag(w, notRead(ctx, limited, err))
	}
}

// withoutTag removes the headers of a file that is not sent.
func withoutTag(w http.ResponseWriter, err error) error {
	for _, name := range []string{"ETag", "Cache-Control", "Content-Disposition", "Content-Type", "X-Truncated"} {
		w.Header().Del(name)
	}
	return err
}

func formatOf(name string) (f rowfile.Format, err error) {
	all := rowfile.Formats()
	if i := slices.IndexFunc(all, func(f rowfile.Format) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return f, problem.Newf(http.StatusNotFound, "No such format", "a table is not written as %q; there are %s", shortened(name),
		strings.Join(names, ", "))
}

// texts1 reads the parameter values.
func texts1(s string) (plain bool, err error) {
	switch s {
	case "", "typed":
		return false, nil
	case "text":
		return true, nil
	}
	return false, problem.Newf(http.StatusBadRequest, "Bad parameter", "values=%q: values is typed or text", shortened(s))
}

// disposition names the file after the version and, if it has several, the table.
func disposition(v catalog.Version, t archive.Table, tables int, ext string) string {
	base := strings.TrimSuffix(v.FileName, path.Ext(v.FileName))
	if tables > 1 {
		base += "-" + nameOf(t)
	}
	base = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|#%`, r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '-'
		}
		return r
	}, shortened(base))
	if strings.Trim(base, ".-… ") == "" {
		base = "table"
	}
	return mime.FormatMediaType("attachment", map[string]string{"filename": base + "-v" + strconv.Itoa(v.N) + "." + ext})
}

// counted counts the bytes that were passed on.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// file is a file that is written.
type file struct {
	format  rowfile.Format
	request RowsRequest
	plain   bool // cells as they stand in the file

	columns []column
	fields  []rowfile.Field
	where   []clause
	order   []by
}

// prepare finds out what the rows of a table look like. odd are columns whose values are not all of their datatype.
func (f *file) prepare(t archive.Table, odd []int) (err error) {
	p := t.Profile
	for _, c := range p.Columns {
		f.columns = append(f.columns, newColumn(c))
		f.fields = append(f.fields, fieldOf(c))
	}
	if f.where, err = parseWhere(f.request.Where, f.columns); err != nil {
		return problem.Wrap(http.StatusBadRequest, "Bad condition", err)
	}
	if f.order, err = parseOrder(f.request.Order, f.columns); err != nil {
		return problem.Wrap(http.StatusBadRequest, "Bad order", err)
	}
	for i := range p.Omitted { // their names are not kept
		c := newColumn(csvprofile.Column{Name: "_col." + strconv.Itoa(len(p.Columns)+i+1), Datatype: "string"})
		f.columns = append(f.columns, c)
		f.fields = append(f.fields, rowfile.Field{Name: c.name})
	}
	for i := range f.fields {
		if f.plain || f.format.Binary && slices.Contains(odd, i) {
			f.fields[i].Kind = rowfile.Text
		}
	}
	if len(f.fields) == 0 {
		return problem.New(http.StatusNotFound, "No columns", "the table has no columns")
	}
	return nil
}

// write reads the table and writes its rows.
func (f *file) write(ctx context.Context, a *RowsAPI, v catalog.Version, t archive.Table, w io.Writer) error {
	buffered := bufio.NewWriterSize(w, fileBuffer)
	out, err := f.format.Open(buffered, f.fields)
	if err != nil {
		return err
	}
	r := reading{file: f, out: out, values: make([]rowfile.Value, len(f.fields))}
	if len(f.order) > 0 {
		r.sorted = &sorter{columns: f.columns, order: f.order, keep: maxSorted}
		if n := f.request.Limit; n > 0 {
			r.sorted.keep = min(maxSorted, f.request.Offset+n)
		}
	}
	marks := inspect.Marks{Tell: a.marks.teller(v, t)}
	if len(f.where) == 0 && r.sorted == nil {
		if marks.From = a.marks.before(v, t, int64(f.request.Offset)); marks.From != nil {
			r.read, r.fit = marks.From.Row, int(marks.From.Row)
		}
	}
	err = a.archive.EachRowFrom(ctx, v, t, marks, func(cells [][]byte) error {
		if r.read&255 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return r.add(cells)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := r.finish(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// reading passes the rows of a table on to a file.
type reading struct {
	*file
	out    rowfile.Writer
	values []rowfile.Value
	cells  []string
	sorted *sorter // nil if the rows keep the table's order
	read   int64   // rows of the table so far
	fit    int     // of them, those that fulfil the condition
}

// add takes the next row of the table. It returns errEnough when no more are wanted.
func (r *reading) add(cells [][]byte) error {
	number := r.read
	r.read++
	if !holdAll(r.where, r.columns, cells) {
		return nil
	}
	r.fit++
	if r.sorted != nil {
		if r.fit > maxSorted && r.request.Limit == 0 {
			return errSorting
		}
		return r.sorted.offer(number, cells)
	}
	if r.fit <= r.request.Offset {
		return nil
	}
	r.cells = appendTexts(r.cells[:0], cells, len(r.columns))
	if err := r.put(r.cells); err != nil {
		return err
	}
	if r.request.Limit > 0 && r.fit == r.request.Offset+r.request.Limit {
		return errEnough
	}
	return nil
}

func (r *reading) put(cells []string) error {
	for i, cell := range cells {
		switch {
		case r.plain:
			r.values[i] = rowfile.Value{Text: cell, Null: cell == ""}
		default:
			r.values[i] = r.columns[i].value(cell, r.fields[i].Kind)
		}
	}
	return r.out.Write(r.values)
}

// finish writes the rows that had to be ordered.
func (r *reading) finish() error {
	if r.sorted == nil {
		return nil
	}
	if r.request.Offset+r.request.Limit > maxSorted {
		return errSorting
	}
	r.sorted.trim()
	for _, one := range r.sorted.rows[min(r.request.Offset, len(r.sorted.rows)):] {
		if err := r.put(one.cells); err != nil {
			return err
		}
	}
	return nil
}
