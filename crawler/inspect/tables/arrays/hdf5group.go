package arrays

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// link is a name in a group.
type link struct {
	name string
	addr uint64
}

// maxDepth bounds the groups within each other.
const maxDepth = 32

// group reads the objects of a group, each once. What cannot be read of one affects only that one.
func (h *h5) group(addr uint64, name string, depth int) error {
	if h.seen[addr] || depth > maxDepth {
		return nil
	}
	h.seen[addr] = true
	if h.objects++; h.objects > maxObjects {
		return fmt.Errorf("%w: more than %d objects", source.ErrFormat, maxObjects)
	}
	messages, err := h.header(addr)
	if err != nil {
		return err
	}
	attributes, err := h.attributes(messages)
	if err != nil {
		h.fault(err)
	}
	if slices.ContainsFunc(messages, func(m message) bool { return m.kind == msgLayout }) {
		return h.dataset(addr, name, messages, attributes)
	}
	for _, a := range attributes {
		if depth > 0 {
			a.name = name + "/" + a.name
		}
		if !strings.HasPrefix(path.Base(a.name), "_Netcdf4") && !strings.HasPrefix(path.Base(a.name), "_NC") {
			h.found.Attributes = append(h.found.Attributes, Attribute{a.name, a.text})
		}
	}
	links, err := h.links(messages)
	if err != nil {
		h.fault(err)
	}
	for _, l := range links {
		inner := l.name
		if name != "" {
			inner = name + "/" + l.name
		}
		if err := h.group(l.addr, inner, depth+1); err != nil {
			if h.objects > maxObjects || h.ctx.Err() != nil || h.left < 0 {
				return err
			}
			h.fault(fmt.Errorf("%s: %w", inner, err))
		}
	}
	return nil
}

// links returns the hard links of a group, in the order of their creation if that is known, else of their names.
func (h *h5) links(messages []message) (all []link, err error) {
	type ordered struct {
		link
		order uint64
	}
	var list []ordered
	add := func(body []byte, _ uint64) {
		c := &cursor{b: body}
		if c.u8() != 1 {
			return
		}
		flags := c.u8()
		typ := 0
		if flags&8 != 0 {
			typ = c.u8()
		}
		var order uint64
		if flags&4 != 0 {
			order = c.uint(8)
		}
		if flags&16 != 0 {
			c.take(1)
		}
		name := cut(c.take(int(c.uint(1<<(flags&3)))), maxName)
		if typ == 0 && !c.bad {
			if addr := h.addr(c); !c.bad {
				list = append(list, ordered{link{name, addr}, order})
			}
		}
	}
	for _, m := range messages {
		c := &cursor{b: m.body}
		switch m.kind {
		case msgLink:
			add(m.body, 0)
		case msgSymbols:
			tree, heap := h.addr(c), h.addr(c)
			old, e := h.symbols(tree, heap)
			for _, l := range old {
				list = append(list, ordered{l, 0})
			}
			err = e
		case msgLinkInfo:
			c.take(1)
			if flags := c.u8(); flags&1 != 0 {
				c.take(8)
			}
			if heap, tree := h.addr(c), h.addr(c); !c.bad && heap != undefined {
				err = h.dense(heap, tree, 5, add)
			}
		}
		if len(list) > maxObjects {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b ordered) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name)) })
	for _, l := range list {
		all = append(all, l.link)
	}
	return all, err
}

// symbols returns the links of a group of the older kind: a tree of nodes with names in a heap.
func (h *h5) symbols(tree, heap uint64) (all []link, err error) {
	b, err := h.at(heap, 8+2*h.l+h.o)
	if err != nil {
		return nil, err
	}
	c := &cursor{b: b}
	if string(c.take(4)) != "HEAP" {
		return nil, errHDF5
	}
	c.take(4)
	size := h.length(c)
	h.length(c)
	names, err := h.at(h.addr(c), int(min(size, 64<<20)))
	if err != nil {
		return nil, err
	}
	err = h.tree(tree, 0, 0, func(_ []byte, child uint64) error {
		b, err := h.at(child, 8)
		if err != nil || string(b[:4]) != "SNOD" {
			return errHDF5
		}
		n := int(b[6]) | int(b[7])<<8
		entry := 2*h.o + 24
		if b, err = h.at(child+8, n*entry); err != nil {
			return err
		}
		for i := range n {
			c := &cursor{b: b[i*entry:]}
			at, addr, cache := c.uint(h.o), h.addr(c), c.u32()
			if at < uint64(len(names)) && cache != 2 && len(all) < maxObjects { // 2 is a symbolic link
				all = append(all, link{cut(names[at:], maxName), addr})
			}
		}
		return nil
	})
	return all, err
}

// tree visits the leaves of a tree of version 1, in the order of their keys, which have size bytes; 0 for groups, whose
// keys are lengths.
func (h *h5) tree(addr uint64, keySize, depth int, f func(key []byte, child uint64) error) error {
	if depth > 16 || addr == undefined {
		return nil
	}
	if keySize == 0 {
		keySize = h.l
	}
	b, err := h.at(addr, 8+2*h.o)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(b, []byte("TREE")) {
		return errHDF5
	}
	level, n := int(b[5]), int(b[6])|int(b[7])<<8
	if level > 16-depth {
		return errHDF5
	}
	if b, err = h.at(addr+uint64(len(b)), n*(keySize+h.o)); err != nil {
		return err
	}
	c := &cursor{b: b}
	for range n {
		key := c.take(keySize)
		child := h.addr(c)
		if c.bad {
			return errHDF5
		}
		if level > 0 {
			err = h.tree(child, keySize, 16-level+1, f)
		} else {
			err = f(key, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
