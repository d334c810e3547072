package store

import (
	"context"
	"errors"
	"os"

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

// SignLog signs the transparency log as it is now.
func (s *Store) SignLog(ctx context.Context) (transparency.Checkpoint, error) {
	c, err := s.signer.Sign(ctx)
	if err == nil {
		s.Log.Info("transparency log signed", "versions", c.Size)
		select {
		case s.signed <- struct{}{}:
		default: // there is a signal that nobody has taken
		}
	}
	return c, err
}

// Signed gets a value after each SignLog, unless there is one already.
func (s *Store) Signed() <-chan struct{} { return s.signed }

// SignIfDue signs the transparency log as often as the settings say, if it has grown.
func (s *Store) SignIfDue(ctx context.Context) error {
	last, signed, err := s.Checkpoint()
	if err != nil {
		return err
	}
	size, err := s.Leaves()
	if err != nil || size == 0 || signed && (size == last.Size || s.Clock().Sub(last.Signed) < s.Config.Evidence.SignEvery) {
		return err
	}
	_, err = s.SignLog(ctx)
	return err
}
