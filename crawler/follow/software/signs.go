package software

import (
	"fmt"
	"regexp"
	"strings"
)

// found returns the signs of a system that a page shows.
func (s *system) found(page *Page, m *marks) System {
	found := System{Name: s.Name}
	for i := range s.Signs {
		g := &s.Signs[i]
		what, version, shown := g.shown(page, m)
		if !shown {
			continue
		}
		found.Weight += g.Weight
		if found.Version == "" {
			found.Version = version
		}
		if len(found.Because) < maxSigns {
			found.Because = append(found.Because, what)
		}
	}
	return found
}

// shown reports whether a page shows a sign, says which, and gives the version that the first group of the sign's
// expression matches.
func (g *sign) shown(page *Page, m *marks) (what, version string, shown bool) {
	switch g.Where {
	case "generator":
		return g.in("generator", m.generators)
	case "cookie":
		return g.in("cookie", m.cookies)
	case "asset":
		return g.in("asset", m.assets)
	case "link":
		return g.in("link", m.links)
	case "title":
		return g.in("title", []string{m.title})
	case "path":
		return g.in("address", []string{m.place.text})
	case "css":
		return "element " + g.Match, "", m.selected[g.css]
	}
	_, name, _ := strings.Cut(g.Where, ":")
	return g.in("header "+name, page.Header.Values(name))
}

func (g *sign) in(kind string, list []string) (what, version string, shown bool) {
	for _, s := range list {
		if at := g.match.FindStringSubmatch(cut(s)); at != nil {
			if len(at) > 1 {
				version = at[1]
			}
			return fmt.Sprintf("%s %q", kind, short(s)), short(version), true
		}
	}
	return "", "", false
}

var spaces = regexp.MustCompile(`\s+`)

// short returns a text for a phrase.
func short(s string) string {
	s = strings.TrimSpace(spaces.ReplaceAllString(cut(s), " "))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
