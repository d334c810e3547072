package transparency

import (
	"context"
	"fmt"
	"maps"

	"golang.org/x/mod/sumdb/tlog"
)

// Checked is the result of Check.
type Checked struct {
	Leaves      int64
	Checkpoints int
	Faults      []string // the first faults, at most maxFaults, one sentence each
	Found       int      // number of all faults
}

const maxFaults = 20

// Fault adds a fault.
func (c *Checked) Fault(format string, args ...any) {
	if c.Found++; len(c.Faults) < maxFaults {
		c.Faults = append(c.Faults, "transparency log: "+fmt.Sprintf(format, args...))
	}
}

// Check reads every leaf from the record that leads to it, computes the tree anew, and compares it with the stored
// hashes, with the size of the log and with every checkpoint that was signed. It needs memory for the checkpoints'
// sizes and for a tile of leaves. The result has the faults; an error means that the check could not be completed.
func (t Txn) Check(ctx context.Context) (c Checked, err error) {
	s, err := t.state()
	if err != nil {
		return c, err
	}
	signed, err := t.signedTrees(ctx, &c)
	if err != nil {
		return c, err
	}
	var grown growing
	for complete := true; complete && c.Leaves < s.size; {
		if ctx.Err() != nil {
			return c, context.Cause(ctx)
		}
		if complete, err = t.checkTile(&c, s, &grown, signed); err != nil {
			return c, err
		}
	}
	if err := t.findLeavesBehind(&c, s.size); err != nil {
		return c, err
	}
	for size := range maps.Keys(signed) {
		if size > s.size {
			c.Fault("it has %d leaves, but a checkpoint of %d was signed", s.size, size)
		}
	}
	return c, nil
}

// checkTile checks the next tile of leaves, and adds it to the tree. It is not complete if leaves are lost, so that no
// later one can be judged.
func (t Txn) checkTile(c *Checked, s state, grown *growing, signed map[int64][]tlog.Hash) (complete bool, err error) {
	tile, err := t.leafTile(s, c.Leaves/tileWidth)
	if err != nil {
		return false, err
	}
	complete = true
	for _, l := range tile.lost {
		complete = complete && l.mended
		why := l.why
		if l.mended {
			why += "; its parity has it"
		}
		c.Fault("leaf %d %s", l.index, why)
	}
	if complete && !tile.sound {
		c.Fault("leaves %d to %d are not those that were logged", tile.first, tile.first+int64(len(tile.leaves))-1)
	}
	if !complete {
		return false, nil
	}
	for _, raw := range tile.leaves {
		c.Leaves++
		err := grown.add(tlog.RecordHash(raw), func(level int, n int64, h tlog.Hash) error { return t.compareHash(c, level, n, h) })
		if err != nil {
			return false, err
		}
		for _, want := range signed[c.Leaves] {
			if grown.root() != want {
				c.Fault("its first %d leaves are not those of the checkpoint that was signed", c.Leaves)
			}
		}
	}
	return true, nil
}

// findLeavesBehind looks for a leaf behind those that are counted.
func (t Txn) findLeavesBehind(c *Checked, size int64) error {
	return t.Scan(space, []byte{tableLeaf}, leafKey(size), func(_, _ []byte) (bool, error) {
		c.Fault("it has more than the %d leaves that are counted", size)
		return false, nil
	})
}

// signedTrees returns the root hashes of the checkpoints by size.
func (t Txn) signedTrees(ctx context.Context, c *Checked) (roots map[int64][]tlog.Hash, err error) {
	roots = map[int64][]tlog.Hash{}
	err = t.Checkpoints(ctx, maxSize-1, func(cp Checkpoint) (bool, error) {
		c.Checkpoints++
		_, tree, err := ParseNote(cp.Note)
		if err != nil || tree.N != cp.Size {
			c.Fault("the checkpoint of %d versions cannot be read", cp.Size)
			return true, nil
		}
		roots[tree.N] = append(roots[tree.N], tree.Hash)
		return true, nil
	})
	return roots, err
}

// compareHash compares the stored hash of a full subtree with the one computed from its leaves.
func (t Txn) compareHash(c *Checked, level int, n int64, want tlog.Hash) error {
	ok, err := t.Read(space, hashKey(level, n), func(raw []byte) error {
		if string(raw) != string(want[:]) {
			c.Fault("hash %d of level %d is not that of its leaves", n, level)
		}
		return nil
	})
	if err == nil && !ok {
		c.Fault("hash %d of level %d is missing", n, level)
	}
	return err
}

// growing is a tree to which leaves are added: the roots of its full subtrees, the greatest first.
type growing struct {
	size  int64
	roots []tlog.Hash
}

// add adds a leaf, and calls closed for each subtree of 256^level leaves that it completes.
func (g *growing) add(leaf tlog.Hash, closed func(level int, n int64, h tlog.Hash) error) error {
	h, height := leaf, 0
	for n := g.size; n&1 == 1; n >>= 1 {
		last := len(g.roots) - 1
		h, g.roots = tlog.NodeHash(g.roots[last], h), g.roots[:last]
		if height++; height%tileHeight == 0 {
			if err := closed(height/tileHeight, g.size>>height, h); err != nil {
				return err
			}
		}
	}
	g.size++
	g.roots = append(g.roots, h)
	return nil
}

// root returns the root of the tree, which must not be empty.
func (g *growing) root() tlog.Hash {
	h := g.roots[len(g.roots)-1]
	for i := len(g.roots) - 2; i >= 0; i-- {
		h = tlog.NodeHash(g.roots[i], h)
	}
	return h
}
