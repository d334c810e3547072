package crawl

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"odarchive/crawler/catalog"
)

// maxWithdrawalLine bounds a line of a list of withdrawals, in bytes.
const maxWithdrawalLine = 64 << 10

// WithdrawAgain withdraws what a list says that was withdrawn: a JSON object a line, as Archive.Withdrawn yields them.
// It removes the bytes, and returns the number of versions that were withdrawn. Retention is left to its rules: left is
// the number of its lines.
func (c *Crawl) WithdrawAgain(ctx context.Context, list io.Reader, progress func(step string)) (versions, left int, err error) {
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, maxWithdrawalLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var b catalog.WithdrawnBytes
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			return versions, left, fmt.Errorf("list of withdrawals, line %d: %w", n, err)
		}
		if b.By == catalog.ByRetention {
			left++
			continue
		}
		order := catalog.WithdrawalOrder{Targets: []string{b.Version}, Reason: b.Reason, Basis: b.Basis, By: b.By, Status: b.Status}
		if b.Withdrawal, err = order.Withdrawal(b.At); err != nil {
			return versions, left, fmt.Errorf("list of withdrawals, line %d: %w", n, err)
		}
		done, err := c.store.Archive.WithdrawBytes(ctx, b)
		versions += len(done)
		if err != nil {
			return versions, left, fmt.Errorf("list of withdrawals, line %d: %w", n, err)
		}
		if err := c.forgetGraphs(ctx, done); err != nil {
			return versions, left, err
		}
	}
	if err := lines.Err(); err != nil {
		return versions, left, fmt.Errorf("list of withdrawals: %w", err)
	}
	_, err = c.PurgeWithdrawn(ctx, progress)
	return versions, left, err
}
