package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"
)

func TestTheSampleIsLargeAndTheSameOnEveryRun(t *testing.T) {
	files, types := map[string]bool{}, map[string]bool{}
	for _, p := range portalsOf(1) {
		for _, d := range p.Datasets {
			for _, f := range d.Files {
				files[f.URL], types[f.Format] = true, true
			}
		}
	}
	if len(files) < 1000 || len(types) < 20 {
		t.Errorf("%d files of %d types", len(files), len(types))
	}
	d := portalsOf(1)[0].Datasets[1]
	for _, f := range formats() {
		var one, two bytes.Buffer
		if err := f.Write(&one, tableOf(d, 3), d); err != nil || one.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", f.Name, one.Len(), err)
		}
		if err := f.Write(&two, tableOf(d, 3), d); err != nil {
			t.Fatal(err)
		}
		if f.Name != "xlsx" && !bytes.Equal(one.Bytes(), two.Bytes()) { // a workbook says when it was written
			t.Errorf("%s differs between two runs", f.Name)
		}
	}
}

func TestFilesChangeAndDisappear(t *testing.T) {
	portals, month := portalsOf(1), 0
	w := newWeb(portals, func() int { return month })
	get := func(url string) (int, string) {
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, httptest.NewRequest("GET", url, nil))
		body, err := io.ReadAll(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		return rec.Code, string(body)
	}
	changed, gone := 0, 0
	for _, d := range portals[0].Datasets {
		for _, f := range d.Files {
			month = 0
			code, first := get(f.URL)
			month = 11
			later, last := get(f.URL)
			switch {
			case code == 200 && later != 200:
				gone++
			case code == 200 && first != last:
				changed++
			}
		}
	}
	if changed == 0 || gone == 0 {
		t.Errorf("%d files change and %d disappear", changed, gone)
	}
}
