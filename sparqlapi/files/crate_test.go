package files

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/url"
	"testing"

	"odarchive/crawler/archive"
)

// The test reads the crate by the rules of RO-Crate 1.2: the descriptor is about the root, the root has its required
// properties, every file is in the zip, and no entity is there twice.
func TestEveryZipIsAnROCrate(t *testing.T) {
	w := newWorld(t)
	entries := []Entry{
		w.add("http://a.example/data.csv", 0, "data.csv", []byte("a,b\n1,2\n")),
		w.add("http://a.example/Bücher/100% \"x\":y.csv", 1, "ü%.csv", []byte("x")),
	}
	entries[0].Origin = &Origin{Portal: "http://p.example/", Dataset: "http://p.example/d", Licence: "CC-BY"}
	plan, err := NewBundle(entries, Meta{Query: "SELECT \"?v\"\n{ }", Base: "http://archive.example/"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := plan.WriteTo(&b, w.store); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("ro-crate-metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var doc struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.NewDecoder(f).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	byID := map[string]map[string]any{}
	for _, e := range doc.Graph {
		id, _ := e["@id"].(string)
		if id == "" || e["@type"] == nil || byID[id] != nil {
			t.Errorf("entity %v", e)
		}
		byID[id] = e
	}
	refersTo := func(id, property string) string {
		to, _ := byID[id][property].(map[string]any)
		at, _ := to["@id"].(string)
		return at
	}
	if doc.Context != "https://w3id.org/ro/crate/1.2/context" || refersTo("ro-crate-metadata.json", "about") != "./" ||
		refersTo("ro-crate-metadata.json", "conformsTo") != "https://w3id.org/ro/crate/1.2" {
		t.Errorf("descriptor %v", byID["ro-crate-metadata.json"])
	}
	root := byID["./"]
	for _, property := range []string{"name", "description", "datePublished", "license"} {
		if root[property] == nil {
			t.Errorf("the root has no %s", property)
		}
	}
	if byID[refersTo("#selection", "agent")] == nil || byID[refersTo("#selection", "instrument")]["text"] != "SELECT \"?v\"\n{ }" {
		t.Errorf("selection %v", byID["#selection"])
	}
	parts, _ := root["hasPart"].([]any)
	if len(parts) != len(z.File)-1 {
		t.Errorf("%d parts of %d files", len(parts), len(z.File))
	}
	for _, p := range parts {
		id := p.(map[string]any)["@id"].(string)
		name, err := url.PathUnescape(id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Open(name); err != nil || byID[id]["@type"] != "File" {
			t.Errorf("part %s: %v", id, err)
		}
	}
	file := byID["a.example/data.csv/0-data.csv"]
	if file["license"] != "CC-BY" || file["contentSize"] != "8" ||
		refersTo("a.example/data.csv/0-data.csv", "isBasedOn") != "http://a.example/data.csv" {
		t.Errorf("file %v", file)
	}
	without := Entry{Stored: archive.Stored{}}
	if without.Origin.text() != "" {
		t.Error("no origin has a text")
	}
}
