package ckan

import (
	"cmp"
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

// step is the number of packages between marks when they are requested one by one.
const step = 20

// current requests lists of packages with their resources.
func (c *client) current(ctx context.Context, at *position) error {
	for at.n < maxListed {
		result, err := c.action(ctx, "current_package_list_with_resources",
			url.Values{"limit": {fmt.Sprint(min(c.Source.Rows, 100))}, "offset": {fmt.Sprint(at.start)}})
		if err != nil && at.n == 0 && ctx.Err() == nil {
			return hostOrWay(err)
		}
		var packages []loose.Value
		for _, r := range result.List() {
			packages = append(packages, r.List()...) // DKAN returns a list of lists
		}
		before := at.n
		if emitErr := c.emitAll(ctx, packages, at); err == nil {
			err = emitErr
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
		if err := c.Out.Mark(at.mark()); err != nil {
			return err
		}
	}
	return fmt.Errorf("current_package_list_with_resources has no end: %d packages so far", at.n)
}

// list requests all names, then each package.
func (c *client) list(ctx context.Context, at *position) error {
	names, err := c.names(ctx)
	if err != nil && len(names) == 0 {
		return hostOrWay(err)
	}
	if err != nil {
		return err
	}
	return c.emitNamed(ctx, names, at, c.show)
}

// names requests the names of all packages.
func (c *client) names(ctx context.Context) ([]string, error) {
	result, err := c.action(ctx, "package_list", nil)
	if err != nil {
		return nil, err
	}
	names := result.Texts()
	for n := len(names); n > 0 && n%100 == 0 && n < maxListed; n = len(names) { // the portal limits the list
		more, err := c.action(ctx, "package_list", url.Values{"limit": {"1000"}, "offset": {fmt.Sprint(n)}})
		if err != nil {
			return names, err
		}
		if page := more.Texts(); len(page) > 0 && !slices.Contains(names, page[0]) {
			names = append(names, page...)
		}
		if len(names) == n {
			break
		}
	}
	return names, nil
}

// rest requests packages through the REST API of the first versions.
func (c *client) rest(ctx context.Context, at *position) error {
	var first error
	for _, base := range []string{"/api/2/rest/dataset", "/api/rest/dataset", "/api/rest/package", "/api/1/rest/package"} {
		listed, err := c.Get(ctx, base, nil)
		first = cmp.Or(first, err)
		if err != nil || !listed.IsArray() {
			continue
		}
		return c.emitNamed(ctx, listed.Texts(), at, func(ctx context.Context, name string) (loose.Value, error) {
			return c.Get(ctx, base+"/"+url.PathEscape(name), nil)
		})
	}
	return hostOrWay(cmp.Or(first, errors.New("the REST API lists nothing")))
}

// emitNamed hands over the packages of a list, in the order of names, from the first one after the position on.
func (c *client) emitNamed(ctx context.Context, names []string, at *position,
	show func(context.Context, string) (loose.Value, error)) error {
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
			if failed++; failed >= maxBroken || !skippable(err) {
				return fmt.Errorf("package %s: %w", name, err)
			}
			if err := c.reportFailed(name, err); err != nil {
				return err
			}
		}
		if err := c.emit(r, at); err != nil {
			return err
		}
		at.after = name
		if i%step == step-1 || i == len(names)-from-1 {
			if err := c.Out.Mark(at.mark()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *client) show(ctx context.Context, name string) (loose.Value, error) {
	return c.action(ctx, "package_show", url.Values{"id": {name}})
}

// reportFailed reports a listed package that cannot be read: as one to skip if the portal says that it is deleted or
// closed, else as one that stays as it was.
func (c *client) reportFailed(name string, why error) error {
	sentence := fmt.Sprintf("package %s: %v", name, why)
	var no *refused
	var status *harvest.StatusError
	if errors.As(why, &no) && no.status/100 != 5 || errors.As(why, &status) && status.Status/100 == 4 {
		c.Out.Skip(sentence)
		return nil
	}
	iri := datasetIRI(c.Root, name)
	if len(name) == 36 && strings.Count(name, "-") == 4 {
		iri = "" // the list has IDs, and datasets are named after their names
	}
	return c.Out.Unknown(iri, sentence)
}

// skippable reports whether an error concerns one package, not the portal.
func skippable(err error) bool {
	var no *refused
	return errors.As(err, &no) || portalapi.Answered(err)
}
