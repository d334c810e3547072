package software

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// selectors are all selectors of the rules, so that one walk over a page finds which of them match.
//
// A selector is one compound of CSS without combinators: "body.single-post", "#sliding-popup",
// "[data-drupal-selector]", "a.print". It is filed under its most telling part: an element is compared with the few
// selectors that share one with it.
type selectors struct {
	all   []compound
	at    map[string]int   // index by text
	filed map[string][]int // by ".class", "#id", "[attribute", or name of an element
}

type compound struct {
	tag     string
	id      string
	classes []string
	attrs   []string // "name" or "name=value"
}

func newSelectors() *selectors {
	return &selectors{at: map[string]int{}, filed: map[string][]int{}}
}

// add returns the number of a selector.
func (s *selectors) add(text string) (int, error) {
	if n, known := s.at[text]; known {
		return n, nil
	}
	c, err := newCompound(text)
	if err != nil {
		return 0, err
	}
	n := len(s.all)
	s.all = append(s.all, c)
	s.at[text] = n
	key := c.key()
	s.filed[key] = append(s.filed[key], n)
	return n, nil
}

func newCompound(text string) (c compound, err error) {
	rest := text
	for rest != "" {
		sign, part := byte(0), rest
		if strings.IndexByte(".#[", rest[0]) >= 0 {
			sign, part = rest[0], rest[1:]
		}
		end := strings.IndexAny(part, ".#[")
		if sign == '[' {
			end = strings.IndexByte(part, ']')
			if end < 0 {
				return c, fmt.Errorf("there is no ']' in the selector %q", text)
			}
		}
		if end < 0 {
			end = len(part)
		}
		name := part[:end]
		rest = part[end:]
		if name == "" || strings.ContainsAny(name, " >+~,*:()") && sign != '[' {
			return c, fmt.Errorf("%q is not a selector of one element, such as div.list or #main", text)
		}
		switch sign {
		case '.':
			c.classes = append(c.classes, name)
		case '#':
			c.id = name
		case '[':
			rest = rest[1:]
			c.attrs = append(c.attrs, strings.ReplaceAll(name, `"`, ""))
		default:
			c.tag = strings.ToLower(name)
		}
	}
	if c.key() == "" {
		return c, fmt.Errorf("the selector %q is empty", text)
	}
	return c, nil
}

// key returns the part under which a selector is filed.
func (c *compound) key() string {
	switch {
	case c.id != "":
		return "#" + c.id
	case len(c.classes) > 0:
		return "." + c.classes[0]
	case len(c.attrs) > 0:
		name, _, _ := strings.Cut(c.attrs[0], "=")
		return "[" + name
	}
	return c.tag
}

// match adds the selectors that an element matches to found. classes are the element's.
func (s *selectors) match(n *html.Node, classes []string, found map[int]bool) {
	s.try(s.filed[n.Data], n, classes, found)
	for _, a := range n.Attr {
		if a.Key == "id" {
			s.try(s.filed["#"+a.Val], n, classes, found)
		}
		s.try(s.filed["["+a.Key], n, classes, found)
	}
	for _, class := range classes {
		s.try(s.filed["."+class], n, classes, found)
	}
}

func (s *selectors) try(some []int, n *html.Node, classes []string, found map[int]bool) {
	for _, i := range some {
		if !found[i] && s.all[i].matches(n, classes) {
			found[i] = true
		}
	}
}

func (c *compound) matches(n *html.Node, classes []string) bool {
	if c.tag != "" && c.tag != n.Data || c.id != "" && attribute(n, "id") != c.id {
		return false
	}
	for _, class := range c.classes {
		if !contains(classes, class) {
			return false
		}
	}
	for _, attr := range c.attrs {
		name, value, exact := strings.Cut(attr, "=")
		if got, has := lookup(n, name); !has || exact && got != value {
			return false
		}
	}
	return true
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	v, _ := lookup(n, name)
	return v
}

func lookup(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}
