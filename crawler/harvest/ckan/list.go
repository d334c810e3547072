package ckan

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// between marks, where packages are asked for one by one.
const step = 20

// current asks for lists of packages with their resources.
func (c *client) current(ctx context.Context, at *position) error {
	for at.n < mostListed {
		result, err := c.action(ctx, "current_package_list_with_resources", url.Values{"limit": {fmt.Sprint(min(c.rows, 100))}, "offset": {fmt.Sprint(at.start)}})
		if err != nil && at.n == 0 && ctx.Err() == nil {
			return hostOrWay(err)
		}
		var packages []loosejson.Value
		for _, r := range result.List() {
			packages = append(packages, r.List()...) // DKAN has a list of lists
		}
		before := at.n
		if handErr := c.hand(ctx, packages, at); err == nil {
			err = handErr
		}
		if err != nil {
			return err
		}
		if at.n == before {
			if at.n == 0 {
				return &unusable{errEmpty}
			}
			return nil
		}
		at.start += len(packages)
		if err := c.out.Mark(at.mark()); err != nil {
			return err
		}
	}
	return fmt.Errorf("current_package_list_with_resources has no end: %d packages so far", at.n)
}

// list all names and show one after the other.
func (c *client) list(ctx context.Context, at *position) error {
	result, err := c.action(ctx, "package_list", nil)
	if err != nil {
		return hostOrWay(err)
	}
	names := result.Texts()
	for n := len(names); n > 0 && n%100 == 0 && n < mostListed; n = len(names) { // as many as were allowed
		more, err := c.action(ctx, "package_list", url.Values{"limit": {"1000"}, "offset": {fmt.Sprint(n)}})
		if err != nil {
			return err
		}
		if page := more.Texts(); len(page) > 0 && !slices.Contains(names, page[0]) {
			names = append(names, page...)
		}
		if len(names) == n {
			break
		}
	}
	return c.each(ctx, names, at, c.show)
}

// rest is the interface of the first versions.
func (c *client) rest(ctx context.Context, at *position) error {
	var first error
	for _, base := range []string{"/api/2/rest/dataset", "/api/rest/dataset", "/api/rest/package", "/api/1/rest/package"} {
		listed, err := c.http.Get(ctx, c.root+base, nil)
		if err != nil && first == nil {
			first = err
		}
		if err != nil || !listed.IsArray() {
			continue
		}
		return c.each(ctx, listed.Texts(), at, func(ctx context.Context, name string) (loosejson.Value, error) {
			return c.http.Get(ctx, c.root+base+"/"+url.PathEscape(name), nil)
		})
	}
	if first == nil {
		first = errors.New("the REST interface lists nothing")
	}
	return hostOrWay(first)
}

// each name in order, from the one after the last on.
func (c *client) each(ctx context.Context, names []string, at *position, show func(context.Context, string) (loosejson.Value, error)) error {
	if len(names) == 0 {
		return &unusable{errEmpty}
	}
	slices.Sort(names)
	from, found := slices.BinarySearch(names, at.after)
	if found {
		from++
	}
	failed := 0
	for i, name := range names[from:] {
		r, err := show(ctx, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			failed = 0
		default:
			if failed++; failed >= mostBroken || !passOver(err) {
				return fmt.Errorf("package %s: %w", name, err)
			}
			if err := c.unread(name, err); err != nil {
				return err
			}
		}
		for r.IsArray() && len(r.List()) == 1 {
			r = r.List()[0]
		}
		if err := c.handOne(r, at); err != nil {
			return err
		}
		at.after = name
		if i%step == step-1 || i == len(names)-from-1 {
			if err := c.out.Mark(at.mark()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *client) show(ctx context.Context, name string) (loosejson.Value, error) {
	r, err := c.action(ctx, "package_show", url.Values{"id": {name}})
	if list := r.List(); len(list) == 1 {
		r = list[0]
	}
	return r, err
}

// unread is a package that was listed and cannot be had: gone or closed where the portal says so, else as it was.
func (c *client) unread(name string, why error) error {
	sentence := fmt.Sprintf("package %s: %v", name, why)
	var no *refused
	var status *harvest.StatusError
	if errors.As(why, &no) && no.status/100 != 5 || errors.As(why, &status) && status.Status/100 == 4 {
		c.out.Skip(sentence)
		return nil
	}
	iri := c.root + "/dataset/" + url.PathEscape(name)
	if len(name) == 36 && strings.Count(name, "-") == 4 {
		iri = "" // the list is of ids, and datasets go by their names
	}
	return c.out.Unknown(iri, sentence)
}

// passOver tells trouble with one package from trouble with the portal.
func passOver(err error) bool {
	var no *refused
	return errors.As(err, &no) || portalapi.Answered(err)
}
