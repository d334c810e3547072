package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"odarchive/triplestore/disk"
)

// keyLosses is the setting that lists what opening or a scrub could not restore.
const keyLosses = "app/losses"

// Loss is damage that could not be restored. Its JSON is stored, so names are stable.
type Loss struct {
	disk.Damage
	Named bool `json:"named"` // a repair has reported it, so it is not damage any more
}

// maxLosses is the length of the list; the oldest are dropped.
const maxLosses = 1000

// Losses returns what could not be restored, with what this process has found. fresh reports whether some of them are
// not stored yet.
func (s *Store) Losses() (list []Loss, fresh bool, err error) {
	raw, err := s.Setting(keyLosses)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, false, fmt.Errorf("list of losses: %w", err)
	}
	for _, part := range s.ScrubbedParts() {
		for _, d := range part.Damages() {
			known := slices.ContainsFunc(list, func(l Loss) bool {
				return l.File == d.File && l.Offset == d.Offset && l.Lost == d.Lost && l.Found.Equal(d.Found)
			})
			if d.Lost != "" && !d.Mended.IsZero() && !known {
				list, fresh = append(list, Loss{Damage: d}), true
			}
		}
	}
	return list, fresh, nil
}

// SaveLosses stores what this process could not restore. named marks all losses as reported by a repair.
func (s *Store) SaveLosses(ctx context.Context, named bool) error {
	list, changed, err := s.Losses()
	if err != nil {
		return err
	}
	for i := range list {
		if named && !list[i].Named {
			list[i].Named, changed = true, true
		}
	}
	if !changed {
		return nil
	}
	raw, err := json.Marshal(list[max(0, len(list)-maxLosses):])
	if err == nil {
		err = s.SetSetting(ctx, keyLosses, string(raw))
	}
	if err != nil {
		return fmt.Errorf("list of losses: %w", err)
	}
	return nil
}

// logLosses is SaveLosses for callers that go on after an error: opening, closing, tidying.
func (s *Store) logLosses(ctx context.Context) {
	if err := s.SaveLosses(ctx, false); err != nil && s.DB.WritesStopped() == nil {
		s.Log.Error("list of losses not stored", "error", err)
	}
}
