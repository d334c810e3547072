//go:build browser

package ui_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// maxPicture is the most bytes that a picture of the documentation may have.
const maxPicture = 60 << 10

// TestBrowserPicturesOfTheDocumentation takes the pictures of the documentation from the demo and writes them to
// ODARCHIVE_PICTURES (make pictures).
func TestBrowserPicturesOfTheDocumentation(t *testing.T) {
	dir := os.Getenv("ODARCHIVE_PICTURES")
	if dir == "" {
		t.Skip("ODARCHIVE_PICTURES names no folder")
	}
	ctx, end := openBrowser(t)
	defer end()
	w := windowOn(t, ctx, startDemo(t))
	w.media(false, 1000, 640)
	save := func(name string) {
		t.Helper()
		shot, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if shot, err = fewerColours(shot); err != nil || len(shot) > maxPicture {
			t.Fatalf("%s has %d bytes, %v", name, len(shot), err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), shot, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Until some files have a second version.
	console := "/console?query=" +
		url.QueryEscape(
			"PREFIX dct: <http://purl.org/dc/terms/>\nPREFIX dcat: <http://www.w3.org/ns/dcat#>\nSELECT ?file ?version ?issued ?size "+
				"WHERE {\n  ?file dct:hasVersion ?version .\n  ?version dcat:mediaType \"text/csv\" ; dct:issued ?issued ; dcat:byteSize "+
				"?size }\nORDER BY DESC(?issued)")
	for range 60 {
		w.open(console)
		w.until(`document.querySelector(".grid td a")`)
		if eval[int](w, `document.querySelectorAll(".grid tbody tr:not(.space)").length`) >= 5 {
			break
		}
	}
	w.until(`/ZIP \(\d+ files?,/.test(document.querySelector("[data-zip-query]").textContent)`)
	save("console.png")
	w.open("/crawls")
	w.until(`document.querySelector("h1")`)
	save("crawls.png")
	w.open("/search?q=trees.csv")
	w.until(`document.querySelector(".resources .title")`)
	w.do(chromedp.Click(chromedp.CSS(".resources .title")))
	w.until(`location.pathname === "/dataset" && document.querySelector("#versions")`)
	save("file.png")
}

// fewerColours returns a PNG with a palette of the 128 colours that are there most often.
func fewerColours(data []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	count := map[color.RGBA]int{}
	bounds := from.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 128)] {
		palette = append(palette, c)
	}
	to := image.NewPaletted(bounds, palette)
	draw.Draw(to, bounds, from, bounds.Min, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)
	return out.Bytes(), err
}
