package check

import (
	"context"
)

// checkBucket compares what is in the bucket of closed packs with what was uploaded: by a listing, or with Deep by
// reading all of it.
func (c *Checker) checkBucket(ctx context.Context, f *found, progress func(done, total int64)) (err error) {
	f.remote, err = c.Store.Content.CheckRemote(ctx, c.Deep, c.Rate, progress)
	for _, fault := range f.remote {
		f.unsound = true
		f.damage("bucket: %s: %s", fault.Name, fault.Why)
	}
	if stats, ok := c.Store.Content.Remote(); ok {
		f.report.Bucket = &Bucket{Files: stats.Files, Waiting: stats.Waiting, Cold: stats.Cold, Read: c.Deep}
	}
	return err
}

// Bucket is what a check says of the bucket of closed packs. JSON names are stable.
type Bucket struct {
	Files   int   `json:"files"`   // packs and parity that are closed
	Waiting int   `json:"waiting"` // of them, not in the bucket yet
	Cold    int64 `json:"cold"`    // bytes that are only there
	Read    bool  `json:"read"`    // all of it was read; otherwise only listed
}
