package store

import (
	"context"
	"errors"
	"os"
	"time"

	"odarchive/crawler/archive/transparency"
)

// Signer signs the archive's transparency log.
func (s *Store) Signer() *transparency.Signer { return s.signer }

// LogKeys returns the public keys of the transparency log, the present one first; none if there is no key.
func (s *Store) LogKeys() ([]string, error) {
	k, err := transparency.ReadKey(s.Config.LogKey())
	switch {
	case errors.Is(err, transparency.ErrNoKey):
		return nil, nil
	case errors.Is(err, os.ErrPermission): // a reader of the archive need not be the one who signs
		return nil, nil
	case err != nil:
		return nil, err
	}
	return k.Public, nil
}

// Checkpoint returns the latest checkpoint of the transparency log. ok is false if none has been signed.
func (s *Store) Checkpoint() (c transparency.Checkpoint, ok bool, err error) {
	err = transparency.View(s.DB, func(t transparency.Txn) error { c, ok, err = t.Latest(); return err })
	return c, ok, err
}

// Leaves returns the number of versions in the transparency log.
func (s *Store) Leaves() (n int64, err error) {
	err = transparency.View(s.DB, func(t transparency.Txn) error { n, err = t.Size(); return err })
	return n, err
}

// lookForKeyEvery is how often KeepSigned looks whether there is something to sign.
const lookForKeyEvery = 10 * time.Minute

// KeepSigned signs the transparency log as often as the settings say, if it has grown, until ctx ends. Without a key it
// waits for one.
func (s *Store) KeepSigned(ctx context.Context) error {
	failed := ""
	for {
		if err := s.signIfDue(ctx); err != nil && !errors.Is(err, transparency.ErrNoKey) && ctx.Err() == nil && err.Error() != failed {
			failed = err.Error() // said once
			s.Log.Error("the transparency log is not signed", "error", err)
		}
		select {
		case <-time.After(min(s.Config.Evidence.SignEvery, lookForKeyEvery)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Store) signIfDue(ctx context.Context) error {
	last, signed, err := s.Checkpoint()
	if err != nil {
		return err
	}
	size, err := s.Leaves()
	if err != nil || size == 0 || signed && (size == last.Size || s.Clock().Sub(last.Signed) < s.Config.Evidence.SignEvery) {
		return err
	}
	c, err := s.signer.Sign(ctx)
	if err == nil {
		s.Log.Info("transparency log signed", "versions", c.Size)
	}
	return err
}
