package search

import "iter"

// pages is a list that grows without being copied: with ten million rows, a slice would need its memory more than twice
// while it grows. The zero value is empty.
type pages[T any] struct {
	list [][]T
	n    int
}

const (
	pageBits = 12
	pageLen  = 1 << pageBits
)

func (p *pages[T]) len() int { return p.n }

// at returns element i, which is less than len. The pointer stays valid.
func (p *pages[T]) at(i uint32) *T { return &p.list[i>>pageBits][i&(pageLen-1)] }

// all returns the elements, page by page, with the number of each page's first one. The last page may have zero values
// behind the last element.
func (p *pages[T]) all() iter.Seq2[uint32, []T] {
	return func(yield func(uint32, []T) bool) {
		for i, page := range p.list {
			if !yield(uint32(i)<<pageBits, page) {
				return
			}
		}
	}
}

// grow adds zero values until there are at least n.
func (p *pages[T]) grow(n int) {
	for len(p.list)*pageLen < n {
		p.list = append(p.list, make([]T, pageLen))
	}
	p.n = max(p.n, n)
}
