package frontier

import (
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
)

// Wake lets hosts be leased again that wait for a reason, before their time: those for which wanted returns true. It
// returns their number. A host that still must not be asked is put back by the next lease.
func (f *Frontier) Wake(ctx context.Context, wanted func(group, why string) bool) (n int, err error) {
	now := ms(f.opts.Now())
	for after, more := "", true; more; {
		var part []string
		err := f.db.View(func(txn *kv.Txn) error {
			seen := 0
			more = false
			return txn.Scan(kv.SpaceHosts, []byte(prefixHost), hostKey(after), func(k, _ []byte) (bool, error) {
				group := string(k[len(prefixHost):])
				if group == after && after != "" {
					return true, nil
				}
				if seen++; seen > 10*perTxn || len(part) == perTxn {
					more = true
					return false, ctx.Err()
				}
				after = group
				h, err := loadHost(txn, group)
				if err == nil && h.notBefore > now && wanted(group, h.wait) {
					part = append(part, group)
				}
				if errors.Is(err, ErrDamaged) { // a lease mends it
					err = nil
				}
				return true, err
			})
		})
		if err == nil && len(part) > 0 {
			err = f.wakeGroups(ctx, part, now)
		}
		if err != nil {
			return n, fmt.Errorf("frontier: wake hosts: %w", err)
		}
		n += len(part)
	}
	if n > 0 {
		f.signal()
	}
	return n, nil
}

func (f *Frontier) wakeGroups(ctx context.Context, groups []string, now int64) error {
	return f.db.Update(ctx, func(txn *kv.Txn) error {
		for _, g := range groups {
			h, err := f.host(txn, g)
			if err != nil {
				return err
			}
			h.notBefore, h.wait = 0, ""
			if err := h.updateReady(txn, now); err != nil {
				return err
			}
			if err := f.save(txn, h); err != nil {
				return err
			}
		}
		return nil
	})
}
