package csvprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rowsOf returns the rows of a file from a mark on, and the marks that are found, at most one for each apart bytes.
func rowsOf(t testing.TB, file []byte, d Dialect, from *Mark, apart int64) (rows []string, marks []Mark) {
	t.Helper()
	if from != nil {
		file = file[from.Offset:]
	}
	_, err := Read(context.Background(), bytes.NewReader(file), Options{Dialect: &d, From: from, apart: apart,
		Mark: func(m Mark) { marks = append(marks, m) },
		Each: func(cells [][]byte) error {
			rows = append(rows, string(bytes.Join(cells, []byte{0x1f})))
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return rows, marks
}

// checkMarks compares the rows from each mark on with those of the whole file.
func checkMarks(t testing.TB, file []byte, d Dialect, apart int64) (found int) {
	t.Helper()
	whole, marks := rowsOf(t, file, d, nil, apart)
	for i, m := range marks {
		if len(marks) > 40 && i%(len(marks)/20) != 0 {
			continue
		}
		got, _ := rowsOf(t, file, d, &m, apart)
		if m.Row > int64(len(whole)) || !slices.Equal(got, whole[m.Row:]) {
			t.Fatalf("from %+v: %d rows, want %d of %d\n%.300q\n%.300q", m, len(got), int64(len(whole))-m.Row, len(whole), got,
				whole[min(m.Row, int64(len(whole))):])
		}
	}
	return len(marks)
}

func TestRowsFromAMarkAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Title of it;;\nname;words;number\n")
	for i := range 9000 {
		switch i % 50 {
		case 7:
			b.WriteString("\n")
		case 11:
			b.WriteString("# a comment\n")
		case 13:
			fmt.Fprintf(&b, "only %d\n", i)
		case 17:
			b.WriteString("Note: held back;;\n")
		case 23:
			fmt.Fprintf(&b, "more;cells;%d;and;more\n", i)
		case 29:
			fmt.Fprintf(&b, "\"two\nlines; \"\"%d\"\"\";x;\r\n", i)
		case 31:
			b.WriteString("\ufeffmark;inside;1\n")
		default:
			fmt.Fprintf(&b, "Straße %d;łódź é €;%d\n", i, i*3)
		}
	}
	text := b.String()
	latin := strings.NewReplacer("ł", "l", "ź", "z", "ó", "\xf3", "é", "\xe9", "€", "\x80", "ß", "\xdf", "\ufeff",
		"\x81\x8d\xef\xbb\xbf").Replace(text)
	d := Dialect{Delimiter: ";", QuoteChar: `"`, DoubleQuote: true, LineTerminator: "\n", Header: true, HeaderRows: 1, Preamble: 1,
		CommentPrefix: "#"}
	for _, c := range []struct {
		encoding, file string
		marks          bool
	}{{"utf-8", text, true}, {"utf-8", "\xef\xbb\xbf" + text, true}, {"windows-1252", latin, true}, {"iso-8859-1", latin, true},
		{"utf-16le", text, false}} {
		d.Encoding = c.encoding
		for size, apart := range map[int]int64{4000: 1, 50_000: 2000, len(c.file): 70_000} {
			if n := checkMarks(t, []byte(c.file[:size]), d, apart); (n > 2) != c.marks {
				t.Errorf("%s, every %d: %d marks", c.encoding, apart, n)
			}
		}
	}
}

func TestReadingFromAMarkNeedsADialect(t *testing.T) {
	t.Parallel()
	if _, err := Read(t.Context(), strings.NewReader("a"), Options{From: &Mark{}}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("a;b\n1;2\n\"x\ny\";2\n\n3\n"), ";", true, false)
	f.Add([]byte("\xef\xbb\xbfa,b\n\"never closed\n1,2\n1,2,3\n"), ",", true, true)
	f.Add([]byte("a||b\r1||\"2\"\r\n"), "||", false, false)
	f.Fuzz(func(t *testing.T, file []byte, delimiter string, quotes, single bool) {
		if len(delimiter) > 3 || len(file) > 1000 {
			return
		}
		d := Dialect{Encoding: "utf-8", Delimiter: delimiter, LineTerminator: "\n", Header: true, HeaderRows: 1}
		if quotes {
			d.QuoteChar, d.DoubleQuote = `"`, true
		}
		if single {
			d.Encoding = "iso-8859-2"
		}
		checkMarks(t, file, d, 1)
	})
}
