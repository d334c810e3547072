package csvprofile

import (
	"fmt"
	"strings"
	"testing"
)

// Texts without a delimiter that seem to have one, and titles that look like a header.
func TestDialectsOfOddTables(t *testing.T) {
	t.Parallel()
	rows := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "%d", "%[1]d")+"\n", i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text, delimiter string
		header          bool
		preamble, width int
	}{
		"addresses of mail":         {"email\n" + rows(30, "u%d@example.org"), ",", true, 0, 1},
		"the same without a header": {rows(30, "u%d@example.org"), ",", false, 0, 1},
		"telephone numbers":         {"phone\n" + rows(30, "+43 1 555 %d"), ",", true, 0, 1},
		"paths":                     {"file\n" + rows(30, "folder/file_%d.txt"), ",", true, 0, 1},
		"codes":                     {"code\n" + rows(30, "AT-%d-%d"), ",", true, 0, 1},
		"sentences":                 {"sentence\n" + rows(30, "This is sentence number %d of the text"), ",", true, 0, 1},
		"tabs beside sentences":     {"term\tmeaning\n" + rows(20, "word%d\tA meaning, with commas; and more %d"), "\t", true, 0, 2},
		"names and values as a title": {"Title:,Population\nYear:,2020\n\nregion,male,female\n" + rows(20, "Region %d,%d,1%d"), ",", true,
			3, 3},
		"two bars between cells":        {"id||name||x\n" + rows(20, "%d||n%d||2.%d"), "||", true, 0, 3},
		"a caret between cells":         {"id^name^x\n" + rows(20, "%d^n%d^2.%d"), "^", true, 0, 3},
		"lists within cells":            {"id,words\n" + rows(20, "code%d,one; two; three"), ",", true, 0, 2},
		"decimal commas in all rows":    {"id;x\n" + rows(20, "a%d;1,5"), ";", true, 0, 2},
		"a separator that is announced": {"sep=;\na;b\n" + rows(20, "%d;x%d"), ";", true, 1, 2},
	} {
		d := Sniff([]byte(c.text), true, "")
		p := profiled(t, c.text)
		if d.Delimiter != c.delimiter || d.Header != c.header || d.Preamble != c.preamble || len(p.Columns) != c.width {
			t.Errorf("%s: delimiter %q, header %v, preamble %d, %d columns; want %q, %v, %d, %d", name, d.Delimiter, d.Header, d.Preamble,
				len(p.Columns), c.delimiter, c.header, c.preamble, c.width)
		}
	}
}

func TestQuotesOfOddTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, quote string }{
		"blanks after the quotation":        {"\"first name\" ; second\n1 ; 2\n3 ; 4\n", `"`},
		"names in a comment":                {"# id,\"lat\",\"lon\"\n0,64.12,16.2\n1,64.13,16.3\n", `"`},
		"lines of tildes":                   {"name,id,x\n~~~~~~~~,,\nAnn,1,a\n~~~~~~~~,,\nBob,2,b\n", ""},
		"inches":                            {"screw,size\na,3\"\nb,4\"\n", ""},
		"cells of nothing and of one quote": {"a,b\n\"\",\"\"\"\"\n1,2\n", `"`},
	} {
		if d := Sniff([]byte(c.text), true, ""); d.QuoteChar != c.quote {
			t.Errorf("%s: %q, want %q", name, d.QuoteChar, c.quote)
		}
	}
}

// TestMissesSeen checks files of kinds that were misread, by what they are now.
func TestMissesSeen(t *testing.T) {
	t.Parallel()
	var abanq strings.Builder
	for i := range 12 {
		fmt.Fprintf(&abanq, "%d\xcfA\xf1o %d\xcf%d.5\xcfCami\xf3n\n", i, 2000+i, i)
	}
	for text, want := range map[string]string{
		"id, name, value\n1, Smith J, 3.5\n2, \"Doe, Jane\", 4.5\n3, x, 5\n":       `, " 0 1 id:integer name:string value:decimal`,
		"Title:,Population,\nUnit:,persons,\nid,name,value\n1,a,2\n2,b,3\n3,c,4\n": `,  2 1 id:integer name:string value:integer`,
		"Land;2010;2012;2015;2020\nA;1;2;3;4\nB;2;3;4;5\n": `;  0 1 Land:string 2010:integer 2012:integer ` +
			`2015:integer 2020:integer`,
		"code,name\n2.2.30,a\n1.2.30,b\n3.10.11,c\n4.1.12,d\n":    `,  0 1 code:string name:string`,
		"Datum,name\n2.2.30,a\n1.2.30,b\n3.10.11,c\n4.1.12,d\n":   `,  0 1 Datum:date name:string`,
		"day,open\nMo,9:00-12:30\nTu,9:00-12:00\nWe,8:00-12:30\n": `,  0 1 day:string open:string`,
		"id,t\n1,9:00:00-05:00\n2,9:30:00-05:00\n":                `,  0 1 id:integer t:time`,
		"id,name\n1,x\x00\n2,y\n":                                 `,  0 1 id:integer name:string`,
		abanq.String(): "Ï  0 0 _col.1:integer _col.2:string " +
			"_col.3:decimal _col.4:string",
		"Straße,Größe\nÄußere Straße,weiß\nGroße Straße,groß\nKleine Straße,weißß\n": `,  0 1 Straße:string Größe:string`,
	} {
		p, err := Read(t.Context(), strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s %s %d %d", p.Dialect.Delimiter, p.Dialect.QuoteChar, p.Dialect.Preamble, p.Dialect.HeaderRows)
		for _, c := range p.Columns {
			got += " " + c.Name + ":" + c.Datatype
		}
		if got != want {
			t.Errorf("%.40q: %s, want %s (%q)", text, got, want, p.Why)
		}
	}
}
