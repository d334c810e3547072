package ui

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ui/plot"
)

// funcs returns the functions that templates may call.
func (u *UI) funcs() template.FuncMap {
	return template.FuncMap{
		"thing":    thing,
		"bytes":    humanBytes,
		"count":    humanCount,
		"when":     when,
		"ago":      func(t time.Time) template.HTML { return ago(u.now(), t) },
		"span":     Span,
		"hex":      func(b []byte) string { return hex.EncodeToString(b) },
		"md5":      func(v catalog.Version) string { return hex.EncodeToString(v.Digests.MD5[:]) },
		"sha256":   func(v catalog.Version) string { return hex.EncodeToString(v.Digests.SHA256[:]) },
		"asset":    func(name string) string { return u.assets.address[name] },
		"script":   u.script,
		"iri":      u.mint.Version,
		"path":     u.versionPath,
		"page":     pagePath,
		"link":     linkTo,
		"console":  consolePath,
		"type":     shortType,
		"file":     fileName,
		"citation": citationName,
		"share":    func(a, b any) template.HTML { return plot.Share(number(a), number(b)) },
		"base":     func() string { return u.mint.Base },
		"release":  func() string { return u.release },
		"outcome":  outcomeWord,
		"host":     hostOf,
		"add":      func(a, b int) int { return a + b },
		"plural":   plural,
		"starts":   strings.HasPrefix,
		"pick": func(versions []catalog.Version, from, to string, c Comparison) picked {
			return picked{versions, from, to, c}
		},
		"noComparison": func() (c Comparison) { return c },
		"contains":     func(list []string, s string) bool { return slices.Contains(list, s) },
	}
}

// versionPath returns the path of a version on this server. It has no host, because the archive may have several names.
func (u *UI) versionPath(id string) string {
	return "/" + strings.TrimPrefix(u.mint.Version(id), u.mint.Base)
}

// pagePath returns the path of the page about a URL.
func pagePath(address string) string { return "/dataset?url=" + url.QueryEscape(address) }

// consolePath returns the address of the console with a query.
func consolePath(query string) string { return "/console?query=" + url.QueryEscape(query) }

// linkTo returns a link to a stranger's address if its scheme is safe to follow, and "" otherwise.
func linkTo(address string) template.URL {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp") {
		return ""
	}
	return template.URL(u.String()) // the scheme is checked; the template engine escapes it for its attribute
}

// humanBytes formats a size: 412 B, 3.4 KB, 1.2 GB (powers of 1000).
func humanBytes(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f := float64(n)
	for _, unit := range []string{"KB", "MB", "GB", "TB"} {
		f /= 1000
		if f < 999.5 {
			if f < 9.95 {
				return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
			}
			return strconv.FormatFloat(f, 'f', 0, 64) + " " + unit
		}
	}
	return strconv.FormatFloat(f/1000, 'f', 1, 64) + " PB"
}

// humanCount formats a number with narrow spaces between groups of three digits.
func humanCount(n any) string {
	s := fmt.Sprint(n)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	if neg {
		return "−" + b.String()
	}
	return b.String()
}

// decimal formats a number with five significant digits, or more if its whole part has more. Very large and very small
// numbers have an exponent.
func decimal(f float64) string {
	size := math.Abs(f)
	if size != 0 && (size < 1e-4 || size >= 1e15) {
		return strconv.FormatFloat(f, 'g', 5, 64)
	}
	digits := 4
	if size >= 1 {
		digits = max(0, 4-int(math.Log10(size)))
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(f, 'f', digits, 64), ".")
	if rest = strings.TrimRight(rest, "0"); rest != "" {
		rest = "." + rest
	}
	return humanCount(whole) + rest
}

// when formats a moment in UTC, with the exact time for machines.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2 Jan 2006, 15:04:05") + " UTC</time>")
}

// ago formats the distance of a moment from now. The exact time is its title.
func ago(now, t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	d, form := now.Sub(t), "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	text := "now"
	if d >= time.Second {
		text = fmt.Sprintf(form, Span(d))
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + t.UTC().Format("2 Jan 2006, 15:04:05") +
		` UTC">` + text + "</time>")
}

// Span formats a duration in its largest unit: 40 s, 12 min, 3 h, 5 days.
func Span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return strconv.Itoa(int(d.Milliseconds())) + " ms"
	case d < 90*time.Second:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + " s"
	case d < 90*time.Minute:
		return strconv.Itoa(int(d.Round(time.Minute).Minutes())) + " min"
	case d < 36*time.Hour:
		return strconv.Itoa(int(d.Round(time.Hour).Hours())) + " h"
	}
	return plural(int(d.Round(24*time.Hour).Hours()/24), "day")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") {
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return humanCount(n) + " " + noun + "s"
}

// citationName returns the name of a format of citations as people write it.
func citationName(format string) string {
	known := map[string]string{"bibtex": "BibTeX", "ris": "RIS", "csl": "CSL-JSON", "datacite": "DataCite JSON",
		"datacite-xml": "DataCite XML", "citation": "text", "robustlink": "robust link"}
	return cmp.Or(known[format], format)
}

// fileName returns the last part of an address, for titles.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if last := parts[len(parts)-1]; last != "" {
		return last
	}
	return u.Host
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

func outcomeWord(o catalog.Outcome) string {
	switch o {
	case catalog.Archived:
		return "new version"
	case catalog.NoVersion:
		return "no version"
	case catalog.RobotsDenied:
		return "denied by robots.txt"
	case catalog.RetryLater:
		return "asked to wait"
	case "":
		return "not visited yet"
	}
	return string(o)
}

func number(v any) float64 {
	switch n := v.(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// picked is the form to choose two versions to compare.
type picked struct {
	Versions []catalog.Version
	From, To string // ids of the chosen versions
	Comparison
}

// crumb is a step of the path from a portal to a page.
type crumb struct{ Name, Href string }

const maxCrumbs = 2 // most portals, and most datasets, that a path names

// crumbs returns the path to a resource: the portals and datasets that list it.
func crumbs(r catalog.Resource) (way []crumb) {
	for _, p := range r.Portals[:min(len(r.Portals), maxCrumbs)] {
		way = append(way, crumb{hostOf(p), pagePath(p)})
	}
	for i, d := range r.Datasets[:min(len(r.Datasets), maxCrumbs)] {
		name := fileName(d)
		if i == 0 && r.DatasetTitle != "" {
			name = r.DatasetTitle
		}
		way = append(way, crumb{name, pagePath(d)})
	}
	return way
}

// titleOf returns a resource's title, or its file name.
func titleOf(r catalog.Resource) string {
	return cmp.Or(r.Title, fileName(r.URL))
}
