package archive

import (
	"context"

	"odarchive/crawler/catalog"
)

// WithdrawnResources calls f with the id of each resource of which a version was withdrawn, for good or by retention,
// once. It reads the records of all versions, since what retention took away is not refused once its bytes are gone.
func (a *Archive) WithdrawnResources(ctx context.Context, f func(id string)) error {
	last := ""
	return a.EachVersion(ctx, func(v catalog.Version) error {
		if id := resourceOf(v); v.Withdrawn != nil && id != last { // versions come resource by resource
			last = id
			f(id)
		}
		return nil
	})
}
