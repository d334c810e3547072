package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"odarchive/triplestore/disk"
)

// keyLosses is where it stands what opening or a scrub could not bring back, until a repair has named it and afterwards.
const keyLosses = "app/losses"

// loss is a damage that cost something. Names are stable: it is stored.
type loss struct {
	disk.Damage
	Named bool `json:"named"` // by a repair: it is no damage any more
}

// lossesKept bounds the list; those that were named first go first.
const lossesKept = 1000

// losses of the archive, with what this process has found.
func (n *Node) losses() (list []loss, fresh bool, err error) {
	raw, err := n.noted(keyLosses)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, false, fmt.Errorf("list of losses: %w", err)
	}
	for _, part := range n.scrubbedParts() {
		for _, d := range part.Damages() {
			known := slices.ContainsFunc(list, func(l loss) bool {
				return l.File == d.File && l.Offset == d.Offset && l.Lost == d.Lost && l.Found.Equal(d.Found)
			})
			if d.Lost != "" && !d.Mended.IsZero() && !known {
				list, fresh = append(list, loss{Damage: d}), true
			}
		}
	}
	return list, fresh, nil
}

// keepLosses writes down what this process could not bring back; with named, a repair has told it.
func (n *Node) keepLosses(ctx context.Context, named bool) error {
	list, changed, err := n.losses()
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
	raw, err := json.Marshal(list[max(0, len(list)-lossesKept):])
	if err == nil {
		err = n.note(ctx, keyLosses, string(raw))
	}
	if err != nil {
		return fmt.Errorf("list of losses: %w", err)
	}
	return nil
}

// rememberLosses is keepLosses where nothing depends on it: at opening and closing.
func (n *Node) rememberLosses(ctx context.Context) {
	if err := n.keepLosses(ctx, false); err != nil && n.DB.WritesStopped() == nil {
		n.Log.Error("losses not written down", "error", err)
	}
}

// checkLosses tells what could not be brought back: as damage until a repair has named it.
func (n *Node) checkLosses(_ context.Context, f *found, _ func(done, total int64)) error {
	list, _, err := n.losses()
	for _, l := range list {
		if l.Named {
			f.report.Lost = append(f.report.Lost, l.String())
		} else {
			f.gone = append(f.gone, l.String())
			f.damage("%s", l)
		}
	}
	return err
}
