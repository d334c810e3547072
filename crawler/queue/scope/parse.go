package scope

import (
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/address"

	"github.com/dustin/go-humanize"
)

// ParseChange parses a rule that is to be added or removed: what is "allow", "deny" or "remove". The text of a rule to
// be removed begins with its action: "deny host:data.example.org". The error wraps ErrBad.
func ParseChange(what, text string) (*Rule, error) {
	if what == "remove" {
		what, text, _ = strings.Cut(strings.TrimSpace(text), " ")
		if what != "allow" && what != "deny" {
			return nil, fmt.Errorf(`%w: %.200q: expected allow or deny before it, as in "deny host:data.example.org"`, ErrBad,
				strings.TrimSpace(what+" "+text))
		}
	}
	return ParseRule(what == "allow", text)
}

// ParseQuestion parses a question as people ask it. The texts may be empty, except that of the URL; that is checked if
// it is not. The error wraps ErrBad.
func ParseQuestion(url, area, mediaType, size string) (Question, error) {
	q := Question{Area: Crawl, URL: url, Type: strings.ToLower(strings.TrimSpace(mediaType)), Size: -1}
	if area != "" {
		q.Area = Area(area)
	}
	if !slices.Contains(areas, q.Area) {
		return q, fmt.Errorf("%w: %q: %w", ErrBad, area, errArea)
	}
	if size != "" {
		n, err := humanize.ParseBytes(size)
		if err != nil || n > 1<<62 {
			return q, fmt.Errorf("%w: %q is not a size such as 10MiB", ErrBad, size)
		}
		q.Size = int64(n)
	}
	if url != "" {
		if _, err := address.Parse(url); err != nil {
			return q, fmt.Errorf("%w: %w", ErrBad, err)
		}
	}
	return q, nil
}
