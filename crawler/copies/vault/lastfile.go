package vault

import (
	"context"
	"fmt"

	"odarchive/triplestore/bucket"
)

// LastFile returns the newest sound copy of a small file that a vault has; nil if there is none.
func LastFile(ctx context.Context, b bucket.Bucket, name string) ([]byte, error) {
	all, err := listFiles(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	list := all[name]
	for i := len(list) - 1; i >= 0; i-- {
		data, _, err := get(ctx, b, list[i].key, maxSmall)
		if err == nil && list[i].check(data) == nil {
			return data, nil
		}
		if err != nil && i == 0 {
			return nil, fmt.Errorf("backup: %w", err)
		}
	}
	return nil, nil
}
