package examine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
)

// readTime is how long reading rows or a member may take, of processor time mostly: who gets them may be slow.
const readTime = 5 * time.Minute

// Table is a table of a document, as inspect.EachRow names it.
type Table struct {
	Member  string // path of the archive's member that contains it, "" for the document itself
	Type    string // media type of that file
	Charset string
	Index   int
	Profile *csvprofile.Profile
}

// EachRow calls f with the data rows of a table, as inspect.EachRowFrom does. f.Found.Type and f.Name are those of the
// document.
func (d *Document) EachRow(ctx context.Context, file File, t Table, marks inspect.Marks, f func(cells [][]byte) error) error {
	if d.child == nil {
		_, err := contained(func() (struct{}, error) {
			return struct{}{}, eachRow(ctx, file, t, d.bodies[0].Size, d.bodies[0].R, nil, marks, f)
		})
		return err
	}
	args, err := json.Marshal(rowArgs{file, t, marks.From, marks.Tell != nil})
	if err != nil {
		return err
	}
	in := rowReader{f: f, tell: marks.Tell}
	_, err = d.do(ctx, apart.Task{Op: "rows", Args: args, Time: readTime, Slow: true, Part: in.part})
	if err == nil && len(in.rest) > 0 {
		err = nonsense(io.ErrUnexpectedEOF)
	}
	return err
}

func eachRow(ctx context.Context, file File, t Table, size int64, body io.ReaderAt, temp temp, marks inspect.Marks,
	f func([][]byte) error) error {
	in := inspect.Input{Found: detect.Detection{Type: file.Found.Type}, Name: file.Name, Size: size, Body: body}
	return inspect.EachRowFrom(ctx, in, t.Member, t.Type, t.Charset, t.Index, t.Profile, inspect.Limits{Temp: temp}, marks, f)
}

type rowArgs struct {
	File  File
	Table Table
	From  *csvprofile.Mark
	Tell  bool
}

// A stream of rows is: for each row, its length shifted by one bit, the number of cells, and the length and bytes of
// each cell (uvarints). A mark, as JSON, has the lowest bit set in the place of a row's.
const maxRow = 64 << 20

// rowWriter writes such a stream in parts.
type rowWriter struct {
	emit func([]byte) error
	b    []byte
	next int // bytes of the next part at least
}

const (
	firstPart = 8 << 10 // somebody waits for the first rows
	onePart   = 64 << 10
)

func (w *rowWriter) row(cells [][]byte) error {
	n := uvarintLen(uint64(len(cells)))
	for _, c := range cells {
		n += uvarintLen(uint64(len(c))) + len(c)
	}
	if n > maxRow {
		return fmt.Errorf("a row has %d bytes; at most %d are passed on", n, maxRow)
	}
	w.b = binary.AppendUvarint(binary.AppendUvarint(w.b, uint64(n)<<1), uint64(len(cells)))
	for _, c := range cells {
		w.b = append(binary.AppendUvarint(w.b, uint64(len(c))), c...)
	}
	return w.flush(w.next)
}

func uvarintLen(n uint64) int {
	return len(binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), n))
}

// flush emits what there is if it is at least least bytes.
func (w *rowWriter) flush(least int) error {
	if len(w.b) < least || len(w.b) == 0 {
		return nil
	}
	err := w.emit(w.b)
	w.b, w.next = w.b[:0], onePart
	return err
}

// rowReader reads such a stream.
type rowReader struct {
	f     func([][]byte) error
	tell  func(csvprofile.Mark)
	rest  []byte // the beginning of what has not come wholly
	cells [][]byte
}

var errStream = errors.New("rows that cannot be read")

func (r *rowReader) part(b []byte) error {
	if len(r.rest) > 0 {
		b = append(r.rest, b...)
	}
	for len(b) > 0 {
		head, used := binary.Uvarint(b)
		if used < 0 || head>>1 > maxRow {
			return nonsense(errStream)
		}
		if used == 0 || uint64(len(b)-used) < head>>1 {
			break
		}
		record := b[used : used+int(head>>1)]
		b = b[used+int(head>>1):]
		if head&1 != 0 {
			if err := r.mark(record); err != nil {
				return err
			}
			continue
		}
		if err := r.row(record); err != nil {
			return err
		}
	}
	r.rest = append(r.rest[:0:0], b...)
	return nil
}

func (r *rowReader) mark(b []byte) error {
	var m csvprofile.Mark
	if err := json.Unmarshal(b, &m); err != nil || r.tell == nil || m.Row < 0 || m.Offset < 0 || m.Width < 0 {
		return nonsense(errStream)
	}
	r.tell(m)
	return nil
}

func (r *rowReader) row(b []byte) error {
	count, used := binary.Uvarint(b)
	b = b[max(used, 0):]
	if used <= 0 || count > uint64(len(b)) {
		return nonsense(errStream)
	}
	r.cells = r.cells[:0]
	for range count {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nonsense(errStream)
		}
		r.cells = append(r.cells, b[used:used+int(n)])
		b = b[used+int(n):]
	}
	if len(b) > 0 {
		return nonsense(errStream)
	}
	return r.f(r.cells)
}

func opRows(j *apart.Job) ([]byte, error) {
	args, err := argsOf[rowArgs](j)
	if err != nil {
		return nil, err
	}
	if args.Table.Profile == nil {
		return nil, inspect.ErrOtherTables
	}
	w := &rowWriter{emit: j.Emit, next: firstPart}
	marks := inspect.Marks{From: args.From}
	if args.Tell {
		marks.Tell = func(m csvprofile.Mark) {
			if raw, err := json.Marshal(m); err == nil {
				w.b = append(binary.AppendUvarint(w.b, uint64(len(raw))<<1|1), raw...)
			}
		}
	}
	err = eachRow(j.Context, args.File, args.Table, j.Bodies[0].Size(), j.Bodies[0], j.Temp, marks, w.row)
	return nil, errors.Join(err, w.flush(0))
}

// Extract writes the bytes of a member to dst, as inspect.Extract does.
func (d *Document) Extract(ctx context.Context, file File, path string, dst io.Writer) error {
	if d.child == nil {
		_, err := contained(func() (struct{}, error) {
			return struct{}{}, extract(ctx, file, path, d.bodies[0].Size, d.bodies[0].R, nil, dst)
		})
		return err
	}
	args, err := json.Marshal(extractArgs{file, path})
	if err != nil {
		return err
	}
	_, err = d.do(ctx, apart.Task{Op: "extract", Args: args, Time: readTime, Slow: true, Part: func(b []byte) error {
		_,
			err := dst.Write(b)
		return err
	}})
	return err
}

type extractArgs struct {
	File File
	Path string
}

func extract(ctx context.Context, file File, path string, size int64, body io.ReaderAt, temp temp, dst io.Writer) error {
	in := inspect.Input{Found: detect.Detection{Type: file.Found.Type}, Name: file.Name, Size: size, Body: body}
	return inspect.Extract(ctx, in, path, inspect.Limits{Temp: temp}, dst)
}

func opExtract(j *apart.Job) ([]byte, error) {
	args, err := argsOf[extractArgs](j)
	if err != nil {
		return nil, err
	}
	return nil, extract(j.Context, args.File, args.Path, j.Bodies[0].Size(), j.Bodies[0], j.Temp, emitter(j.Emit))
}

// emitter is a Writer of parts.
type emitter func([]byte) error

func (e emitter) Write(p []byte) (int, error) {
	if err := e(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
