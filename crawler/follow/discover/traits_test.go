package discover

import (
	"testing"
)

func TestNamesInParametersDoNotTellShapesApart(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"http://c.example/s/x/download?path=%2F2019&files=trees.csv",
			"http://c.example/s/x/download?path=%2Fmaps%2Fold&files=noise-2016.xlsx"},
		{"http://c.example/ws1/ows?typeName=ws1%3Aroads_2013_4838&outputFormat=csv",
			"http://c.example/ws1/ows?typeName=ws1%3Awater&outputFormat=csv"},
		{"http://c.example/?id=4711", "http://c.example/?id=12"},
	} {
		a, _, _ := shapeOf(same[0])
		if b, _, _ := shapeOf(same[1]); a != b {
			t.Errorf("%s is not %s", a, b)
		}
	}
	for _, other := range [][2]string{
		{"http://c.example/?view=article&id=1", "http://c.example/?view=category&id=1"},
		{"http://c.example/ows?outputFormat=csv", "http://c.example/ows?outputFormat=gml2"},
		{"http://c.example/ows?version=1.0.0", "http://c.example/ows?file=a.csv"},
	} {
		a, _, _ := shapeOf(other[0])
		if b, _, _ := shapeOf(other[1]); a == b {
			t.Errorf("%q and %q are both %s", other[0], other[1], a)
		}
	}
}

func TestFilesOfOneParameterAreTakenAfterAFew(t *testing.T) {
	t.Parallel()
	var links []string
	for _, name := range []string{"trees", "noise", "wards", "water", "roads", "rents", "sport", "stops"} {
		links = append(links, "/download?path=%2F&files="+name+".csv", name)
	}
	s := &site{pages: map[string]string{"/": pageOf("Share", links...)}}
	for i := 0; i < len(links); i += 2 {
		s.pages[links[i]] = "text/csv|id,name\n1,a\n2,b\n"
	}
	k, _ := discovered(t, s, "", Options{})
	if len(k.datasets) != 8 || len(s.asked) > 1+probes {
		t.Errorf("%d files, asked %q", len(k.datasets), s.asked)
	}
}

func TestWhatTheSoftwareRulesOutComesAfterADesert(t *testing.T) {
	t.Parallel()
	w := newWalk(Options{URL: home}, nil, nil, nil)
	desert, settings := &link{key: 1, seq: 2}, &link{key: 2, seq: 1, vain: true}
	all := w.model.trait(hash("all"), -1, 0.1)
	desert.traits, settings.traits = []int32{all}, []int32{all}
	desert.from, settings.from = noPage, noPage
	w.queue.push(settings)
	w.queue.push(desert)
	if w.queue.best() != desert {
		t.Error("the link that the software rules out came first")
	}
}
