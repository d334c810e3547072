package vault

import (
	"context"
	"iter"
	"sync"
)

// How many objects of the log are read ahead, each of which takes a round trip.
const (
	objectsAhead = 64
	bytesAhead   = 64 << 20
)

// objects yields some objects of the log, each with what waits for it, in order. They are read ahead.
func (h *History) objects(ctx context.Context, list []span) iter.Seq2[span, func() (object, error)] {
	return func(yield func(span, func() (object, error)) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		type result struct {
			object
			err error
		}
		var ahead []chan result
		size, next := int64(0), 0
		for _, s := range list {
			for next < len(list) && len(ahead) < objectsAhead && (len(ahead) == 0 || size+list[next].size <= bytesAhead) {
				c, key := make(chan result, 1), list[next].key
				if kept := list[next].batch; kept != nil {
					c <- result{object: object{batch: kept, nonce: kept.nonce}}
				} else {
					group.Go(func() {
						o, err := getObject(ctx, h.b, key)
						c <- result{o, err}
					})
				}
				ahead, size, next = append(ahead, c), size+list[next].size, next+1
			}
			c := ahead[0]
			more := yield(s, func() (object, error) {
				r := <-c
				return r.object, r.err
			})
			if !more {
				return
			}
			ahead, size = ahead[1:], size-s.size
		}
	}
}
