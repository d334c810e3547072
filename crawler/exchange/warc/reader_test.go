package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// raw returns a record as it stands in a plain file.
func raw(version, id, block string) string {
	return fmt.Sprintf(
		"WARC/%s\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: "+
			"http://a.example/%s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", version, id, id, len(block), block)
}

// member returns a gzip member.
func member(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

// readAll reads a file, and returns a line for each record or fault: its offset, its id and block, or the reason.
func readAll(t testing.TB, file string) []string {
	t.Helper()
	var all []string
	r := NewReader(iotest.OneByteReader(strings.NewReader(file)), Limits{MaxHead: 2000, MaxWaste: 1 << 20})
	for range 10000 {
		rec, err := r.Next()
		var f *Fault
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &f):
			all = append(all, fmt.Sprintf("%d %s", f.Offset, f.Why))
		case err != nil:
			t.Fatal(err)
		default:
			b, err := io.ReadAll(rec.Block)
			line := fmt.Sprintf("%d %s %q", rec.Offset, strings.Trim(rec.ID(), "<>"), b)
			if err != nil {
				line += " damaged"
			}
			all = append(all, line)
		}
	}
	t.Fatal("no end")
	return nil
}

func TestPlainAndCompressedRecordsAreReadWithTheirPlaces(t *testing.T) {
	t.Parallel()
	a, b, c := raw("1.1", "a", "one"), raw("1.0", "b", ""), raw("0.18", "c", "WARC/1.1\r\n\r\n")
	for name, parts := range map[string][]string{"plain": {a, b, c}, "compressed": {member(a), member(b), member(c)}} {
		r := NewReader(strings.NewReader(strings.Join(parts, "")), Limits{})
		at := int64(0)
		for i, id := range []string{"a", "b", "c"} {
			rec, err := r.Next()
			if err != nil {
				t.Fatalf("%s: record %s: %v", name, id, err)
			}
			if err := r.Finish(); err != nil {
				t.Errorf("%s: record %s: %v", name, id, err)
			}
			if rec.Offset != at || rec.Length != int64(len(parts[i])) || rec.URI() != "http://a.example/"+id {
				t.Errorf("%s: record %s: %d+%d %s, want %d+%d", name, id, rec.Offset, rec.Length, rec.URI(), at, len(parts[i]))
			}
			at += rec.Length
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

func TestReadingGoesOnBehindDamage(t *testing.T) {
	t.Parallel()
	a, b, c := raw("1.1", "a", "one"), raw("1.1", "b", strings.Repeat("two ", 20)), raw("1.1", "c", "three")
	A, B, C := member(a), member(b), member(c)
	gz := func(s string) string { return A + member(s) + C }
	first, last := `0 urn:x:a "one"`, fmt.Sprintf(`%d urn:x:c "three"`, len(A)+len(B))
	flip := func(s string, i int) string { return s[:i] + string(s[i]^0x40) + s[i+1:] }
	cut := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%q is not in %q", old, s)
		}
		return strings.Replace(s, old, new, 1)
	}
	for name, c := range map[string]struct {
		file string
		want []string // parts of lines
	}{
		"a flipped bit in the checksum": {A + flip(B, len(B)-6) + C, []string{first, "urn:x:b", "checksum is wrong", last}},
		"a member without its end":      {A + B[:len(B)-14] + C, []string{first, "urn:x:b", "164 ", "urn:x:c"}},
		"a file that is cut off":        {A + C[:len(C)-3], []string{first, "urn:x:c", "cut off"}},
		"only a magic number":           {A + C[:2], []string{first, "no gzip member"}},
		"bytes behind the last member":  {A + "garbage", []string{first, "no gzip member starts here"}},
		"bytes between members":         {A + "garbage" + C, []string{first, "no gzip member starts here", "urn:x:c"}},
		"a short length": {gz(cut(b, "Length: 80", "Length: 40")),
			[]string{first, "urn:x:b", "CR LF CR LF after 40", "urn:x:c"}},
		"a long length": {gz(cut(b, "Length: 80", "Length: 800")),
			[]string{first, "damaged", "ends after 84 of 800", "urn:x:c"}},
		"an impossible length": {gz(cut(b, "Length: 80", "Length: 99999999999999999999999")),
			[]string{first, "Content-Length is", "urn:x:c"}},
		"a negative length": {gz(cut(b, "Length: 80", "Length: -5")), []string{first, "Content-Length is", "urn:x:c"}},
		"two lengths": {gz(cut(b, "Content-Length: 80", "Content-Length: 80\r\nContent-Length: 8")),
			[]string{first, "two Content-Lengths", "urn:x:c"}},
		"no length":              {gz(cut(b, "Content-Length: 80\r\n", "")), []string{first, "no Content-Length", "urn:x:c"}},
		"an unknown version":     {gz(cut(b, "WARC/1.1", "WARC/9.9")), []string{first, "unknown version", "urn:x:c"}},
		"a line without a colon": {gz(cut(b, "WARC-Date: ", "WARC-Date ")), []string{first, "without a field name", "urn:x:c"}},
		"a NUL":                  {gz(cut(b, "WARC-Date: ", "WARC-Date: \x00")), []string{first, "control character", "urn:x:c"}},
		"an endless header": {gz(cut(b, "WARC-Date: ", "WARC-Date: "+strings.Repeat("x", 5000))),
			[]string{first, "longer than 2000 bytes", "urn:x:c"}},
		"an unfinished header":       {gz(b[:60]), []string{first, "header is cut off", "urn:x:c"}},
		"a member of something else": {gz("id;name\n1;x\n"), []string{first, "starts with", "urn:x:c"}},
		"more than the record": {gz(b + strings.Repeat("x", 100000)),
			[]string{first, "urn:x:b", "more than its record", "urn:x:c"}},
		"far more than the record": {gz(b + strings.Repeat("\x00", 3<<20)),
			[]string{first, "urn:x:b", "more than its record", "urn:x:c"}},
		"several records in one member": {member(a + b + c), []string{first, "several records", "0 urn:x:b", "0 urn:x:c"}},
		"an empty member":               {gz(""), []string{first, "urn:x:c"}},
		"a plain short length": {a + cut(b, "Length: 80", "Length: 40") + c,
			[]string{first, "urn:x:b", "CR LF CR LF after 40", "urn:x:c"}},
		"a plain long length": {a + cut(b, "Length: 80", "Length: 99") + c,
			[]string{first, "urn:x:b", "CR LF CR LF after 99", "urn:x:c"}},
		"a plain file that is cut off": {a + b[:len(b)-10], []string{first, "damaged", "ends after 74 of 80"}},
		"a plain bad header":           {a + cut(b, "WARC-Date: ", "WARC-Date ") + c, []string{first, "without a field name", "urn:x:c"}},
		"no trailer":                   {a + b[:len(b)-4] + c, []string{first, "urn:x:b", "does not end in CR LF", "urn:x:c"}},
		"more empty lines":             {a + "\r\n\r\n" + c + "\r\n", []string{first, "urn:x:c"}},
		"no WARC file":                 {"<html>no</html>\n", []string{"starts with"}},
		"nothing":                      {"", nil},
		"only line ends":               {"\r\n\r\n", nil},
	} {
		got := readAll(t, c.file)
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestHeadersAreReadAsOldProgramsWroteThem(t *testing.T) {
	t.Parallel()
	file := "WARC/0.18\nwarc-type:Response\nWARC-TARGET-URI: <http://a.example/>\nX-Folded: one\n\ttwo\nContent-Length:   2  \n\nhi\n\n"
	r := NewReader(strings.NewReader(file), Limits{})
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if rec.Type != Response || rec.URI() != "http://a.example/" || rec.Header.Get("x-folded") != "one two" || rec.ContentLength != 2 {
		t.Errorf("got %+v", rec)
	}
	if !strings.HasSuffix(string(rec.Head), "2  \n\n") {
		t.Errorf("the head is %q", rec.Head)
	}
	if err := r.Finish(); err != nil {
		t.Error(err)
	}
}

func TestARCFilesAreRead(t *testing.T) {
	t.Parallel()
	rec := func(head, body string) string { return fmt.Sprintf("%s %d\n%s\n", head, len(body), body) }
	info := rec("filedesc://x.arc 0.0.0.0 20110225183219 text/plain",
		"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n")
	page := rec("http://a.example/a b 192.0.2.7 20110225183220 text/html", "HTTP/1.1 200 OK\r\n\r\nhi")
	two := rec("http://a.example/2 192.0.2.7 20110225183220 text/html 200 - - 0 x.arc", "HTTP/1.1 200 OK\r\n\r\nho")
	dns := rec("dns:a.example 192.0.2.53 20110225183221 text/dns", "20110225183221\n")
	for name, file := range map[string]string{"plain": info + page + two + dns,
		"compressed": member(info) + member(page) + member(two) + member(dns)} {
		r := NewReader(strings.NewReader(file), Limits{})
		for _, want := range []string{"warcinfo  ", "response http://a.example/a b 192.0.2.7", "response http://a.example/2 192.0.2.7",
			"resource dns:a.example 192.0.2.53"} {
			rec, err := r.Next()
			if err != nil {
				t.Fatal(name, err)
			}
			if got := rec.Type + " " + rec.URI() + " " + rec.Header.Get("WARC-IP-Address"); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			if _, err := rec.Date(); err != nil {
				t.Error(name, err)
			}
			if err := r.Finish(); err != nil {
				t.Error(name, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFailingSourceIsNoFaultOfTheFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, file := range []string{member(raw("1.1", "a", "one")), raw("1.1", "a", "one")} {
		r := NewReader(io.MultiReader(strings.NewReader(file[:len(file)-5]), iotest.ErrReader(broken)), Limits{})
		var err error
		for err = nil; err == nil || errors.As(err, new(*Fault)); _, err = r.Next() {
		}
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzReader(f *testing.F) {
	a, b := raw("1.1", "a", "one"), raw("1.0", "b", "two")
	f.Add([]byte(a + b))
	f.Add([]byte(member(a) + member(b)))
	f.Add([]byte(member(a + b)))
	f.Add([]byte("filedesc://x 0.0.0.0 20110225183219 text/plain 4\n1 0\n\nhttp://a/ 1.2.3.4 20110225183219 a/b 3\nabc\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewReader(bytes.NewReader(file), Limits{MaxHead: 1 << 12, MaxWaste: 1 << 16})
		at := int64(0)
		for n := 0; ; n++ {
			if n > 4*len(file)+10 {
				t.Fatal("no end")
			}
			rec, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				if !errors.As(err, new(*Fault)) {
					t.Fatal(err)
				}
				continue
			}
			if rec.Offset < at || rec.Offset > int64(len(file)) {
				t.Fatalf("a record at %d after one at %d", rec.Offset, at)
			}
			at = rec.Offset
			if n%2 == 0 {
				if m, body, err := ReadMessage(io.LimitReader(rec.Block, 1<<20)); err == nil {
					m.Status()
					io.Copy(io.Discard, io.LimitReader(body, 1<<20))
				}
			}
			if r.Finish() == nil && rec.Offset+rec.Length > int64(len(file)) {
				t.Fatalf("a record ends at %d of %d", rec.Offset+rec.Length, len(file))
			}
		}
	})
}

func TestBytesOfAURIThatAreNotUTF8AreEscaped(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"http://a.example/caf\xe9\xff?\xe9=é": "http://a.example/caf%E9%FF?%E9=é",
		"http://a.example/é\uFFFD%E9":         "http://a.example/é\uFFFD%E9",
	} {
		rec := Record{Header: Header{{Name: "WARC-Target-URI", Value: "<" + uri + ">"}}}
		if got := rec.URI(); got != want {
			t.Errorf("%q is %q, want %q", uri, got, want)
		}
	}
}

func TestManyFaultsTakeLittleMemory(t *testing.T) { // not parallel: it counts what the process allocates
	for name, file := range map[string]string{
		"lines that begin records": strings.Repeat("WARC/1.0\r\n", 20_000),
		"members that are none":    "\x1f\x8b\x08\x00" + strings.Repeat("\x1f\x8b\x08\x00", 20_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := NewReader(strings.NewReader(file), Limits{})
		faults := 0
		for {
			_, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				t.Fatalf("%s: a record", name)
			}
			faults++
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; faults == 0 || took > 100<<20 {
			t.Errorf("%s: %d bytes for %d faults", name, took, faults)
		}
	}
}
