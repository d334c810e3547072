package scrape

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadSquirrel parses the YAML of Squirrel's HTML scraper. Its file_descriptor has a domain, to which the rules are
// limited, and a description of each kind of page: an expression for the address, and selectors by subject and
// predicate. Values become rules with Auto; links of predicates whose name ends with "link" or "pagination" are
// followed. notes names, in one sentence each, the parts that cannot be converted and are left out.
func ReadSquirrel(text []byte) (r *Rules, notes []string, err error) {
	if len(text) > maxRules {
		return nil, nil, fmt.Errorf("rules are longer than %d bytes", maxRules)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("rules: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil, errors.New("rules: the file is empty")
	}
	descriptor := member(doc.Content[0], "file_descriptor")
	if descriptor == nil {
		return nil, nil, errors.New("rules: file_descriptor is missing")
	}
	c := &converter{domain: scalar(member(member(descriptor, "check"), "domain"))}
	r = &Rules{}
	for name, page := range members(descriptor) {
		if name == "check" {
			continue
		}
		p := c.page(name, page)
		if p != nil {
			r.Page = append(r.Page, p)
		}
	}
	return r, c.notes, r.compile("")
}

// converter converts one file.
type converter struct {
	domain string
	notes  []string
}

func (c *converter) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// page converts the description of a kind of page. It returns nil if nothing of it can be converted.
func (c *converter) page(name string, n *yaml.Node) *Page {
	p := &Page{URL: scalar(member(n, "regex"))}
	if c.domain != "" { // only addresses of the domain and its subdomains, with a match after the host
		p.URL = `^https?://([^/?#]*\.)?` + regexp.QuoteMeta(strings.TrimPrefix(c.domain, "www.")) + `(:[0-9]+)?[/?#].*?(` +
			strings.TrimPrefix(p.URL, "/") + `)`
	}
	if _, err := regexp.Compile(p.URL); err != nil || p.URL == "" {
		c.note("%s: the expression for its addresses cannot be read", name)
		return nil
	}
	for key, value := range members(member(n, "resources")) {
		switch {
		case value.Kind == yaml.MappingNode && key == "$uri":
			for predicate, selectors := range members(value) {
				c.value(p, name, predicate, selectors)
			}
		case value.Kind == yaml.MappingNode:
			c.note("%s: %q is left out; of subjects, only $uri is known", name, key)
		default:
			c.value(p, name, key, value)
		}
	}
	if len(p.Value)+len(p.Follow) == 0 {
		c.note("%s has no selectors", name)
		return nil
	}
	return p
}

// value converts the selectors of a predicate: a text or a list of texts.
func (c *converter) value(p *Page, name, predicate string, n *yaml.Node) {
	list := []string{scalar(n)}
	if n.Kind == yaml.SequenceNode {
		list = nil
		for _, one := range n.Content {
			list = append(list, scalar(one))
		}
	}
	lower := strings.ToLower(predicate)
	for _, text := range list {
		text = cssOf(text)
		if s, err := selector("select", text); err != nil || s == nil {
			c.note("%s: the selector %q of %s cannot be read", name, text, predicate)
			continue
		}
		v := &Value{Predicate: predicate, Select: text, Auto: true}
		if err := v.compile(&Rules{}); err != nil {
			c.note("%s: %q is left out: %v", name, predicate, err)
			continue
		}
		p.Value = append(p.Value, v)
		if (strings.HasSuffix(lower, "link") || strings.HasSuffix(lower, "pagination")) && !slices.Contains(p.Follow, text) {
			p.Follow = append(p.Follow, text)
		}
	}
}

var byIndex = regexp.MustCompile(`:(eq|gt|lt)\(\s*([0-9]{1,6})\s*\)`)

// cssOf translates jsoup's :eq(n), :gt(n) and :lt(n), which count siblings from 0, into CSS.
func cssOf(text string) string {
	return byIndex.ReplaceAllStringFunc(text, func(found string) string {
		m := byIndex.FindStringSubmatch(found)
		n, _ := strconv.Atoi(m[2]) // the expression allows digits only
		switch m[1] {
		case "gt":
			return fmt.Sprintf(":nth-child(n+%d)", n+2)
		case "lt":
			return fmt.Sprintf(":nth-child(-n+%d)", n)
		}
		return fmt.Sprintf(":nth-child(%d)", n+1)
	})
}

// member returns the value of a key in a mapping, nil if n is no mapping or lacks the key.
func member(n *yaml.Node, key string) *yaml.Node {
	for name, value := range members(n) {
		if name == key {
			return value
		}
	}
	return nil
}

// members ranges over a mapping in its order. It does not follow aliases: nested ones could make a small file endless.
func members(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
