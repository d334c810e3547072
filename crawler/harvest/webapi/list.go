package webapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// position is where a list is read. The zero position is its beginning.
type position struct {
	token  string // page, offset or cursor of the page; "" for the first
	url    string // of the page, if the interface says it
	number int    // pages before this one
	n      int    // items before this page
	done   int    // items of this page that are done
}

// wrongAnswer is the error of an answer that is not what the document says.
type wrongAnswer struct{ why string }

func (e *wrongAnswer) Error() string { return e.why }

// isWrong reports whether an error is a wrong answer, so that another request may succeed.
func isWrong(err error) bool {
	var wrong *wrongAnswer
	return portalapi.Answered(err) || errors.As(err, &wrong)
}

// list walks through the pages of one request.
type list struct {
	*run
	request compiledRequest
	parent  loose.Value
	at      position
	resumed bool
	mark    func(position) error // nil for lists of chained requests, which are read again as a whole
}

// Limits of a list.
const (
	maxPages = 1_000_000
	maxItems = 20 << 20
	maxStale = 3 // successive pages without a new item
	maxToken = 2000
	everyN   = 20 // items of a page between two marks, if they have requests of their own
)

// walk hands the items of all pages to item. A page that breaks off is used as far as it is complete.
func (l *list) walk(ctx context.Context, depth int) error {
	var seen portalapi.Seen
	var places portalapi.Seen
	stale := 0
	for pages := 0; ; pages++ {
		if pages == maxPages || l.at.n > maxItems {
			return fmt.Errorf("the list has no end: %d items on %d pages so far", l.at.n, pages)
		}
		address, err := l.address()
		if err != nil {
			return err
		}
		answer, err := l.ask(ctx, address)
		if err != nil && l.resumed && ctx.Err() == nil && isWrong(err) && answer.document.IsNull() {
			l.at, l.resumed = position{}, false // the page of the mark is gone
			continue
		}
		items, total, listErr := l.items(answer, address, err == nil)
		if listErr != nil {
			return listErr
		}
		fresh := 0
		for i, item := range items {
			s := l.scope(item)
			id := l.request.id.textOf(s)
			if s.failed != nil {
				return s.failed
			}
			if id == "" {
				id = item.JSON()
			}
			if !seen.Add(id) {
				continue
			}
			if fresh++; i < l.at.done {
				continue
			}
			if err := l.item(ctx, depth, l.parent, item, answer.document); err != nil {
				return err
			}
			if l.mark != nil && len(l.API.requests) > 1 && (i+1)%everyN == 0 && i+1 < len(items) {
				at := l.at
				at.done = i + 1
				if err := l.mark(at); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
		next, more, err := l.next(answer, len(items), total)
		if err != nil {
			return err
		}
		if fresh > 0 {
			stale = 0
		} else if stale++; more && stale >= maxStale {
			if total > 0 && next.n >= total {
				more = false
			} else {
				return fmt.Errorf("%s: the list repeats itself after %d items; does the interface know the parameter of the paging?",
					address, l.at.n)
			}
		}
		if !more {
			if total > next.n && !l.resumed && l.request.paging != nil {
				return l.out.Unknown(harvest.Short(total-next.n),
					fmt.Sprintf("%s says that it lists %d items but returned %d", l.API.root, total, next.n))
			}
			return nil
		}
		if (next.token != "" || next.url != "") && !places.Add(next.token+" "+next.url) {
			return fmt.Errorf("%s: the pages go in a circle: %.200s comes again after %d items", address, next.token+next.url, next.n)
		}
		l.at = next
		if l.mark != nil {
			if err := l.mark(next); err != nil {
				return err
			}
		}
	}
}

// items returns the list in an answer, and the number of items of all pages, 0 if it is not said. whole is false if the
// answer breaks off.
func (l *list) items(a answered, address string, whole bool) (items []loose.Value, total int, err error) {
	s := l.scope(a.document)
	found := l.request.items.eval(s)
	said := l.request.total.eval(s)
	if s.failed != nil {
		return nil, 0, s.failed
	}
	total = int(min(said.Int(), maxItems))
	switch {
	case !whole:
	case found.IsNull() && !(l.request.total != nil && !said.IsNull() && total == 0): // an empty list may be left out
		return nil, 0, &wrongAnswer{fmt.Sprintf("%s answered without the list %q", address, l.request.items.text)}
	case !found.IsArray() && !found.IsObject() && !found.IsNull():
		return nil, 0, &wrongAnswer{fmt.Sprintf("%s answered with %q as text instead of a list", address, l.request.items.text)}
	}
	if found.IsObject() && found.Empty() {
		return nil, total, nil
	}
	return found.List(), total, nil
}

// address returns the address of the page at l.at.
func (l *list) address() (string, error) {
	if l.at.url != "" {
		return l.at.url, nil
	}
	s := l.scope(l.parent)
	path, why := path(l.request.path, s)
	if why != "" {
		return "", fmt.Errorf("%w: %s", errItem, why)
	}
	query := url.Values{}
	for name, template := range l.request.query {
		if value := template.eval(s).Text(); value != "" {
			query.Set(name, value)
		}
	}
	if s.failed != nil {
		return "", s.failed
	}
	if p := l.request.paging; p != nil && p.Parameter != "" {
		switch {
		case l.at.token != "":
			query.Set(p.Parameter, l.at.token)
		case p.First != 0 && (p.Kind == "page" || p.Kind == "offset"):
			query.Set(p.Parameter, fmt.Sprint(p.First))
		}
	}
	return portalapi.WithQuery(l.API.root+path, query), nil
}

// path fills a template of a path. Values keep their slashes, but cannot leave the place of the hole: why says what is
// wrong with them.
func path(template text, s *scope) (filled, why string) {
	var b strings.Builder
	for i, literal := range template.literals {
		b.WriteString(literal)
		if i == len(template.holes) {
			break
		}
		value := template.holes[i].eval(s).Text()
		segments := strings.Split(value, "/")
		if value == "" || len(value) > maxToken || slices.Contains(segments, "..") || slices.Contains(segments, ".") {
			return "", fmt.Sprintf("%.100q cannot be a part of a path", value)
		}
		for j := range segments {
			segments[j] = url.PathEscape(segments[j])
		}
		b.WriteString(strings.Join(segments, "/"))
	}
	if s.failed != nil {
		return "", s.failed.Error()
	}
	return b.String(), ""
}

// next returns the position of the page behind an answer; more is false if there is none.
func (l *list) next(a answered, received, total int) (at position, more bool, err error) {
	at = position{number: l.at.number + 1, n: l.at.n + received}
	p := l.request.paging
	if p == nil {
		return at, false, nil
	}
	s := l.scope(a.document)
	target := l.request.next.textOf(s)
	says := l.request.more.eval(s)
	if s.failed != nil {
		return at, false, s.failed
	}
	switch p.Kind {
	case "page":
		at.token = fmt.Sprint(p.First + at.number)
	case "offset":
		at.token = fmt.Sprint(p.First + at.n)
	case "cursor":
		if at.token = target; len(target) > maxToken {
			return at, false, fmt.Errorf("%s: a cursor of %d bytes: at most %d are possible", a.url, len(target), maxToken)
		}
	case "link":
		target = a.link
		fallthrough
	case "next":
		if target != "" {
			at.url, err = l.follow(a.url, target)
		}
	}
	switch {
	case err != nil:
	case p.Kind == "cursor" || p.Kind == "next" || p.Kind == "link":
		more = at.token != "" || at.url != ""
		if l.request.more != nil {
			more = more && yes(says)
		}
	case l.request.more != nil && !says.IsNull():
		more = yes(says)
	case total > 0:
		more = at.n < total && received > 0
	case l.request.more != nil: // it is left out with the last page
	default:
		more = received > 0
	}
	return at, more, err
}

// yes reports whether an interface says that there is more: 0 means no, too.
func yes(v loose.Value) bool { return holds(v) && v.Text() != "0" }

// follow returns the address of the next page that an answer names. It must be at the host of the base.
func (l *list) follow(from, target string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", errors.New("the address of the answer cannot be read")
	}
	u, err := base.Parse(target)
	if err != nil || len(target) > maxToken {
		return "", fmt.Errorf("%s: the next page is %.200q, which is not an address", from, target)
	}
	if u.Scheme == "http" && l.API.base.Scheme == "https" { // interfaces behind a proxy do not know better
		u.Scheme = "https"
	}
	if !l.API.sameHost(u) {
		return "", fmt.Errorf("%s: the next page is %.200q, which is at another host than the interface", from, target)
	}
	if auth := l.API.document.Auth; auth != nil && auth.Kind == "query" {
		u.RawQuery = withoutParameter(u.RawQuery, auth.Name)
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}
