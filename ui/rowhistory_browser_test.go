//go:build browser

package ui_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserHowDidThisRowChange is the way of somebody who sees a figure and wants to know what it was before.
func TestBrowserHowDidThisRowChange(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	world := newWorld()
	w := newWindow(t, ctx, withFiles(world))
	w.media(false, 390, 900)
	w.open("/table/" + world.versions["http://data.city.example/trees.csv"][3].ID + "?row=55")
	w.do(chromedp.Click(chromedp.CSS(`a[href^="/history?"]`)))
	w.until(`location.pathname === "/history" && document.querySelector("td ins")`)
	w.do(chromedp.Click(chromedp.CSS(`td a[href*="column=height"]`)))
	w.until(`document.querySelector("h1").textContent === "History of height" && document.querySelectorAll("td del").length === 3`)
	w.do(chromedp.Click(chromedp.CSS(`td a[href^="/diff?"]`)))
	w.until(`location.pathname === "/diff" && document.querySelector(".diff-summary")`)
	w.report("the way to what a row was")
}
