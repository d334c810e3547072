package diff

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
)

// Paths is the change of a JSON or XML document.
type Paths struct {
	Changes []PathChange `json:"changes"` // some of them, in document order
}

// PathChange is one difference.
type PathChange struct {
	Op   string `json:"op"`             // "added", "removed" or "changed"
	Path string `json:"path"`           // $.a[3].b in JSON, /a/b[3]/@c in XML; in the new version, or in the old one if removed
	From string `json:"from,omitempty"` // the value as text, shortened if long
	To   string `json:"to,omitempty"`
}

// node is a node of a document. A leaf has text, an object named children, a list unnamed ones.
type node struct {
	name  string // in its parent; "" in a list
	nth   int    // in XML: position among the siblings of the same name, from 1
	kind  byte   // 'v' leaf, 'o' object, 'l' list
	text  string
	kids  []*node
	ident string // what identifies it among its siblings in a list, "" if nothing
	hash  uint64
}

// Limits of documents in memory.
const (
	maxDepth  = 500
	nodeBytes = 160 // assumed size of a node
)

var (
	errTooDeep  = errors.New("it is nested too deeply")
	errTooLarge = errors.New("it is too large to be compared by paths")
)

// grower limits the size of a tree while it is read.
type grower struct {
	ctx  context.Context
	left int64
}

// add counts a node with so many bytes of text.
func (g *grower) add(text int) error {
	if g.left -= nodeBytes + int64(text); g.left < 0 {
		return errTooLarge
	}
	return nil
}

func (r *Report) compareTrees(ctx context.Context, kind Kind, from, to Side, o Options) error {
	seed := maphash.MakeSeed()
	var trees [2]*node
	for i, s := range []Side{from, to} {
		if s.Size > o.Memory/4 {
			return errTooLarge
		}
		text, err := s.text(ctx)
		if err != nil {
			return err
		}
		g := &grower{ctx: ctx, left: o.Memory / 2}
		if kind == XML {
			trees[i], err = readXML(g, text, s.Charset != "")
		} else {
			trees[i], err = readJSON(g, text)
		}
		if err != nil {
			return err
		}
		trees[i].seal(seed)
	}
	d := &treeDiff{ctx: ctx, r: r, keep: o.List, p: &Paths{}, xml: kind == XML}
	root := "$"
	if d.xml {
		root = "/" + trees[1].name
	}
	if err := d.compare(trees[0], trees[1], root); err != nil {
		return err
	}
	r.Paths = d.p
	r.Same = r.PathsAdded+r.PathsRemoved+r.PathsChanged == 0
	return nil
}

// seal computes the hashes, from the leaves up.
func (n *node) seal(seed maphash.Seed) {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteByte(n.kind)
	h.WriteString(n.text)
	sum := uint64(0)
	for _, k := range n.kids {
		k.seal(seed)
		if n.kind == 'o' { // the order of members does not matter
			sum += mix(k.hash ^ maphash.String(seed, k.name))
		} else {
			fmt.Fprintf(&h, "%s\xff%016x", k.name, k.hash)
		}
	}
	fmt.Fprintf(&h, "%016x", sum)
	n.hash = h.Sum64()
}

type treeDiff struct {
	ctx  context.Context
	r    *Report
	p    *Paths
	keep int
	xml  bool
}

// note counts a change and lists it.
func (d *treeDiff) note(op, path string, a, b *node) {
	switch op {
	case "added":
		d.r.PathsAdded++
	case "removed":
		d.r.PathsRemoved++
	default:
		d.r.PathsChanged++
	}
	if len(d.p.Changes) >= d.keep {
		return
	}
	c := PathChange{Op: op, Path: clipText(path)}
	if a != nil {
		c.From = a.preview()
	}
	if b != nil {
		c.To = b.preview()
	}
	d.p.Changes = append(d.p.Changes, c)
}

func (d *treeDiff) compare(a, b *node, path string) error {
	if a.hash == b.hash {
		return nil
	}
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	switch {
	case a.kind != b.kind || a.kind == 'v' || a.name != b.name && d.xml:
		d.note("changed", path, a, b)
		return nil
	case a.kind == 'o':
		return d.compareObjects(a, b, path)
	}
	return d.compareLists(a, b, path)
}

func (d *treeDiff) compareObjects(a, b *node, path string) error {
	old := make(map[string]*node, len(a.kids))
	for _, k := range a.kids {
		old[k.name] = k
	}
	for _, k := range b.kids {
		was, ok := old[k.name]
		if !ok {
			d.note("added", d.member(path, k, 0), nil, k)
			continue
		}
		delete(old, k.name)
		if err := d.compare(was, k, d.member(path, k, 0)); err != nil {
			return err
		}
	}
	for _, k := range a.kids {
		if old[k.name] == k {
			d.note("removed", d.member(path, k, 0), k, nil)
		}
	}
	return nil
}

// compareLists skips what both have in common at the start and at the end. Of the rest it pairs equal elements, then
// those with the same identity, then the others in order.
func (d *treeDiff) compareLists(a, b *node, path string) error {
	x, y := a.kids, b.kids
	first := 0
	for first < len(x) && first < len(y) && x[first].hash == y[first].hash && x[first].name == y[first].name {
		first++
	}
	x, y = x[first:], y[first:]
	for len(x) > 0 && len(y) > 0 && x[len(x)-1].hash == y[len(y)-1].hash && x[len(x)-1].name == y[len(y)-1].name {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	partner := make([]int, len(y)) // for each new element, its old one + 1
	used := make([]bool, len(x))
	match := func(key func(*node) string) {
		where := make(map[string][]int)
		for i, n := range x {
			if k := key(n); !used[i] && k != "" {
				where[k] = append(where[k], i)
			}
		}
		for i, n := range y {
			k := key(n)
			if list := where[k]; partner[i] == 0 && k != "" && len(list) > 0 {
				partner[i], used[list[0]] = list[0]+1, true
				where[k] = list[1:]
			}
		}
	}
	match(func(n *node) string { return n.name + "\xff" + strconv.FormatUint(n.hash, 36) })
	match(func(n *node) string {
		if n.ident == "" {
			return ""
		}
		return n.name + "\xff" + n.ident
	})
	match(func(n *node) string {
		if n.ident != "" { // another element
			return ""
		}
		return n.name + "\xff"
	})
	for i, n := range y {
		if partner[i] == 0 {
			d.note("added", d.member(path, n, first+i), nil, n)
		} else if err := d.compare(x[partner[i]-1], n, d.member(path, n, first+i)); err != nil {
			return err
		}
	}
	for i, n := range x {
		if !used[i] {
			d.note("removed", d.member(path, n, first+i), n, nil)
		}
	}
	return nil
}

// member returns the path of a child. i is its index in a JSON list. In XML the path is an XPath.
func (d *treeDiff) member(path string, n *node, i int) string {
	switch {
	case d.xml && (strings.HasPrefix(n.name, "@") || n.name == "text()"):
		return path + "/" + n.name
	case d.xml:
		return path + "/" + n.name + "[" + strconv.Itoa(n.nth) + "]"
	case n.name == "":
		return path + "[" + strconv.Itoa(i) + "]"
	case plainName(n.name):
		return path + "." + n.name
	}
	return path + "[" + strconv.Quote(n.name) + "]"
}

func plainName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// preview returns a node as a short text.
func (n *node) preview() string {
	var b strings.Builder
	n.write(&b)
	return clipText(b.String())
}

func (n *node) write(b *strings.Builder) {
	if b.Len() > listedText {
		return
	}
	open, end := "{", "}"
	switch n.kind {
	case 'v':
		b.WriteString(n.text)
		return
	case 'l':
		open, end = "[", "]"
	}
	b.WriteString(open)
	for i, k := range n.kids {
		if i > 0 {
			b.WriteString(", ")
		}
		if k.name != "" {
			b.WriteString(k.name + ": ")
		}
		k.write(b)
	}
	b.WriteString(end)
}
