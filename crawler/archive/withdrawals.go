package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

// Withdrawn calls f with everything that was withdrawn: versions in the order of their ids, then bytes of which this
// archive has no such version.
func (a *Archive) Withdrawn(ctx context.Context, f func(catalog.WithdrawnBytes) error) error {
	return a.view(func(t records.Txn) error {
		err := t.EachVersion(ctx, "", func(v catalog.Version) (bool, error) {
			if v.Withdrawn == nil {
				return true, nil
			}
			return true, f(catalog.WithdrawnBytes{Version: v.ID, URL: v.URL, SHA256: hex.EncodeToString(v.Digests.SHA256[:]),
				Withdrawal: *v.Withdrawn})
		})
		if err != nil {
			return err
		}
		return t.EachRefusal(ctx, func(sha256 [32]byte, r records.Refusal) (bool, error) {
			if r.Withdrawal == nil {
				return true, nil
			}
			return true, f(catalog.WithdrawnBytes{Version: r.Version, SHA256: hex.EncodeToString(sha256[:]), Withdrawal: *r.Withdrawal})
		})
	})
}

// WithdrawBytes withdraws all versions that have some bytes, as they were withdrawn before, in this archive or in
// another. Without such versions, the bytes are refused from then on. It returns the versions that were withdrawn.
func (a *Archive) WithdrawBytes(ctx context.Context, b catalog.WithdrawnBytes) ([]catalog.Version, error) {
	var sha [32]byte
	if n, err := hex.Decode(sha[:], []byte(b.SHA256)); err != nil || n != len(sha) || len(b.SHA256) != 2*len(sha) {
		return nil, fmt.Errorf("archive: withdraw: %.80q is not a SHA-256", b.SHA256)
	}
	for {
		done, err := a.withdrawBytes(ctx, sha, b)
		if !errors.Is(err, errStored) { // a visit stored them in the meantime
			return done, err
		}
	}
}

func (a *Archive) withdrawBytes(ctx context.Context, sha [32]byte, b catalog.WithdrawnBytes) ([]catalog.Version, error) {
	var ids []string
	err := a.view(func(t records.Txn) error {
		list, err := available(ctx, t, sha)
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	returns := b.By == catalog.ByRetention
	if len(ids) > 0 {
		return a.Withdraw(ctx, Withdrawing{Targets: ids, Copies: true, Returns: returns}, b.Withdrawal)
	}
	if returns {
		return nil, nil
	}
	return nil, a.refuseBytes(ctx, sha, b.Version, b.Withdrawal)
}
