package search

import "unsafe"

// titles are the titles of facts, one after the other in blocks without pointers: ten million strings would be 300 MB
// more, and every collection of garbage would look at each.
type titles struct {
	blocks [][]byte // at most titleBlock bytes each; what is in them is never changed
	used   int      // bytes in blocks
	unused int      // of them, those of titles that were replaced
}

// titleRef is a place in titles: block, offset and length. The zero value is the empty title.
type titleRef uint64

const (
	titleBlock = 1 << 20
	lenBits    = 8 // a title has at most maxSortTitle bytes
	placeBits  = 20
)

// add stores a title of at most maxSortTitle bytes.
func (t *titles) add(title string) titleRef {
	if title == "" {
		return 0
	}
	last := len(t.blocks) - 1
	if last < 0 || len(t.blocks[last])+len(title) > titleBlock {
		t.blocks = append(t.blocks, make([]byte, 0, titleBlock))
		last++
	}
	at := len(t.blocks[last])
	t.blocks[last] = append(t.blocks[last], title...)
	t.used += len(title)
	return titleRef(last)<<(placeBits+lenBits) | titleRef(at)<<lenBits | titleRef(len(title))
}

// at returns a title. It is valid for ever.
func (t *titles) at(ref titleRef) string {
	n := int(ref & (1<<lenBits - 1))
	if n == 0 {
		return ""
	}
	block := t.blocks[ref>>(placeBits+lenBits)]
	at := int(ref >> lenBits & (1<<placeBits - 1))
	return unsafe.String(&block[at], n) // blocks only grow, within their capacity
}

// replace returns a place of a title instead of another, the same one if the title is the same.
func (t *titles) replace(was titleRef, title string) titleRef {
	old := t.at(was)
	if old == title {
		return was
	}
	t.unused += len(old)
	return t.add(title)
}

// wasteful reports whether most titles were replaced.
func (t *titles) wasteful() bool { return t.unused > titleBlock && t.unused > t.used/2 }
