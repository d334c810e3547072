package csvw

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"odarchive/triplestore/term"
)

// files serves documents from memory.
func files(m map[string]string) Load {
	return func(u string) ([]byte, error) {
		if s, ok := m[u]; ok {
			return []byte(s), nil
		}
		return nil, fs.ErrNotExist
	}
}

func converted(t *testing.T, s Source, o Options) []string {
	t.Helper()
	var out []string
	_, err := Convert(context.Background(), s, o, func(q term.Quad) error {
		out = append(out, string(q.S)+" "+string(q.P)+" "+string(q.O))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMetadataBesideATableShapesItsTriples(t *testing.T) {
	t.Parallel()
	load := files(map[string]string{
		"http://example.org/t.csv": "id,day\n1,31.12.2020\n",
		"http://example.org/t.csv-metadata.json": `{"@context":"http://www.w3.org/ns/csvw","url":"t.csv","tableSchema":{"aboutUrl":"#{id}","columns":[
			{"titles":"id","datatype":"integer","propertyUrl":"dc:identifier"},{"titles":"day","datatype":{"base":"date","format":"dd.MM.yyyy"},"propertyUrl":"schema:date"}]}}`,
	})
	got := converted(t, Source{URL: "http://example.org/t.csv", Load: load}, Options{Minimal: true})
	want := []string{
		"<http://example.org/t.csv#1 <http://purl.org/dc/terms/identifier ^http://www.w3.org/2001/XMLSchema#integer\x001",
		"<http://example.org/t.csv#1 <http://schema.org/date ^http://www.w3.org/2001/XMLSchema#date\x002020-12-31",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

func TestTemplatesThatAreNotStringsStandForTheTable(t *testing.T) {
	t.Parallel()
	for property, want := range map[string]string{
		"aboutUrl":    "<http://example.org/t.csv <http://example.org/t.csv#id \"1",
		"propertyUrl": " <http://example.org/t.csv \"1",
		"valueUrl":    " <http://example.org/t.csv#id <http://example.org/t.csv",
	} {
		load := files(map[string]string{"http://example.org/t.csv": "id\n1\n",
			"http://example.org/t.csv-metadata.json": `{"@context":"http://www.w3.org/ns/csvw","url":"t.csv","` + property + `":true}`})
		got := converted(t, Source{URL: "http://example.org/t.csv", Load: load}, Options{Minimal: true})
		if len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: got %q, want %q", property, got, want)
		}
	}
}

func TestDocumentsThatCannotBeProcessedAreErrors(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "[]", "{}", `{"@context":"http://example.org/"}`, `{"@context":"http://www.w3.org/ns/csvw"}`, `{"@context":"http://www.w3.org/ns/csvw","tables":[]}`,
		`{"@context":"http://www.w3.org/ns/csvw","url":"a","@id":"_:x"}`} {
		if _, err := Parse([]byte(doc), "http://example.org/m.json", nil); !errors.Is(err, ErrMetadata) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestTemplatesExpandAsTheRFCSays(t *testing.T) {
	t.Parallel()
	vars := func(n string) ([]string, bool) {
		switch n {
		case "var":
			return []string{"value"}, true
		case "hello":
			return []string{"Hello World!"}, true
		case "list":
			return []string{"red", "green", "blue"}, true
		case "path":
			return []string{"/foo/bar"}, true
		}
		return nil, false
	}
	for in, want := range map[string]string{
		"{var}": "value", "{hello}": "Hello%20World%21", "{+hello}": "Hello%20World!", "{+path}/here": "/foo/bar/here", "X{#var}": "X#value", "{undef}x": "x",
		"{list}": "red,green,blue", "{/list*}": "/red/green/blue", "{?list*}": "?list=red&list=green&list=blue", "{?var,undef}": "?var=value", "{var:3}": "val", "{;var}": ";var=value",
		"{.list*}": ".red.green.blue", "open{": "open{",
	} {
		if got := expandTemplate(in, vars); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add(`{"@context":"http://www.w3.org/ns/csvw","url":"t.csv","tableSchema":{"columns":[{"name":"a","datatype":{"base":"decimal","format":"#,##0.0"}}]}}`, "a,b\n1,2\n")
	f.Add(`{"@context":["http://www.w3.org/ns/csvw",{"@language":"de"}],"tables":[{"url":"t.csv","dialect":{"skipRows":1,"trim":true},"dc:title":{"@value":"x"}}]}`, "x\na\n1\n")
	f.Add(`{"@context":"http://www.w3.org/ns/csvw","url":"t.csv","tableSchema":{"aboutUrl":"{+a*}","columns":[{"titles":{"en":"a"},"separator":";","ordered":true,"datatype":{"base":"dateTime","format":"d.M.yyyy HH:mm"}}]}}`, "a\n1;2\n")
	f.Fuzz(func(t *testing.T, doc, table string) {
		load := files(map[string]string{"http://example.org/m.json": doc, "http://example.org/t.csv": table})
		n := 0
		_, _ = Convert(context.Background(), Source{URL: "http://example.org/m.json", Document: true, Load: load}, Options{MaxRows: 50}, func(term.Quad) error {
			if n++; n > 10_000 {
				return errors.New("enough")
			}
			return nil
		})
	})
}
