//go:build browser

package ui_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// person is somebody at a browser who knows no addresses: what is there to press and to fill in is found by what it is
// called.
type person struct {
	*window
	keyboard bool // uses no mouse
}

// newPerson opens the home page of an archive.
func newPerson(t *testing.T, h *history, width int64) *person {
	t.Helper()
	p := &person{window: windowOn(t, h.browser, h.base)}
	p.media(false, width, 900)
	p.open("/")
	return p
}

// withoutScripts turns JavaScript off and takes the mouse away.
func (p *person) withoutScripts() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		p.t.Fatal(err)
	}
	p.keyboard = true
	p.open("/")
}

// found is a script with the first element that is visible, in a part of the page, and has a name.
func found(part, kinds, name string) string {
	quoted, _ := json.Marshal(name)
	within, _ := json.Marshal(part)
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].flatMap((part) => [...part.querySelectorAll(%q)]).find((e) => { const name = %s;
  const names = [e.textContent, e.getAttribute("aria-label"), ...[...(e.labels || [])].map((l) => l.textContent)].map((s) => (s || "").replace(/\s+/g, " ").trim());
  return e.getClientRects().length > 0 && names.some((s) => s === name || s.startsWith(name + " ")); })`, within, kinds, quoted)
}

const (
	loaded  = `document.readyState === "complete" && ` // nodes of a page that is being loaded come and go
	pressed = "a, button, summary"
	filled  = "input, select, textarea"
)

// press presses what has a name, in a part of the page.
func (p *person) press(part, name string) {
	p.t.Helper()
	p.until(loaded + found(part, pressed, name))
	if p.keyboard {
		p.tabTo(part, pressed, name)
		p.do(chromedp.KeyEvent("\r"))
		return
	}
	p.mark(part, pressed, name)
	p.do(chromedp.Click(chromedp.CSS(`[data-marked]`)))
}

// fill types a text into a field, after what is there has been removed.
func (p *person) fill(part, name, text string) {
	p.t.Helper()
	p.until(loaded + found(part, filled, name))
	if p.keyboard {
		p.tabTo(part, filled, name)
		p.do(chromedp.KeyEvent(text))
		return
	}
	p.mark(part, filled, name)
	if kind := eval[string](p.window, `document.querySelector("[data-marked]").type`); kind == "date" || kind == "select-one" {
		eval[bool](p.window, fmt.Sprintf(`(() => { document.querySelector("[data-marked]").value = %q; return true; })()`, text))
		return
	}
	eval[bool](p.window, `(() => { document.querySelector("[data-marked]").value = ""; return true; })()`)
	p.do(chromedp.SendKeys(chromedp.CSS(`[data-marked]`), text))
}

// mark marks an element, so that it can be pressed as people do, by the place where it is.
func (p *person) mark(part, kinds, name string) {
	p.t.Helper()
	eval[bool](p.window, `(() => { for (const e of document.querySelectorAll("[data-marked]")) e.removeAttribute("data-marked"); `+
		found(part, kinds, name)+`.dataset.marked = ""; return true; })()`)
}

// tabTo presses the tabulator until the focus is on an element.
func (p *person) tabTo(part, kinds, name string) {
	p.t.Helper()
	const enough = 300
	for range enough {
		p.do(chromedp.KeyEvent("\t"))
		if eval[bool](p.window, `document.activeElement === `+found(part, kinds, name)) {
			return
		}
	}
	p.t.Fatalf("%d times the tabulator do not lead to %q", enough, name)
}

// search searches for a text, in the form of the page.
func (p *person) search(text string) {
	p.t.Helper()
	p.fill("main form[role=search], header form[role=search]", "Search titles, addresses, portals and types", text)
	p.do(chromedp.KeyEvent("\r"))
	p.until(`location.pathname === "/search" && document.querySelector("main .summary")`)
}

// reads returns the text of the first element that a selector finds.
func (p *person) reads(selector string) string {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%q)`, selector))
	return eval[string](p.window, fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\s+/g, " ").trim()`, selector))
}

// downloads does something that saves a file, and returns its name and bytes.
func (p *person) downloads(act func()) (name string, data []byte) {
	p.t.Helper()
	dir := p.t.TempDir()
	if _, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		p.t.Fatal(err)
	}
	act()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			p.t.Fatal(err)
		}
		if len(names) != 1 || strings.HasSuffix(names[0], ".crdownload") {
			continue
		}
		if data, err := os.ReadFile(names[0]); err == nil && len(data) > 0 {
			return filepath.Base(names[0]), data
		}
	}
	p.t.Fatal("nothing was saved")
	return "", nil
}

// get returns what the server answers, for comparisons.
func (h *history) get(t *testing.T, path, accept string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v: %.300s", path, res.StatusCode, err, body)
	}
	return string(body)
}

func clickCSS(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}
