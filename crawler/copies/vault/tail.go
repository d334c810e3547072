package vault

import (
	"context"
	"errors"
	"sync"

	"odarchive/triplestore/bucket"
)

// How many objects of the tail are read at a time: there may be thousands, and each takes a round trip.
const (
	tailAtOnce      = 256
	tailBytesAtOnce = 64 << 20
)

// tailObject is what matters of an object of the tail, or why it cannot be read.
type tailObject struct {
	seq   uint64
	info  bucket.Info
	nonce [16]byte
	fence *fence // nil if it has records
	span  span   // of the records
	batch *batch // the records, if they are kept
	err   error
}

// tailCache has the objects of the tail that were read, so that reading it again reads only what is new: who takes an
// archive over from a writer that goes on has to be faster than that. The zero value is empty, and keeps no records.
type tailCache struct {
	room int64 // how many bytes of objects are kept with their records

	mu  sync.Mutex // guards all
	all map[string]tailObject
}

func (c *tailCache) get(info bucket.Info) (o tailObject, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok = c.all[info.Key]
	return o, ok && info.ETag != "" && o.info.ETag == info.ETag && o.info.Size == info.Size
}

// keep replaces what there is by what was read now.
func (c *tailCache) keep(list []tailObject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = make(map[string]tailObject, len(list))
	size := int64(0)
	for _, o := range list {
		if o.err != nil {
			continue
		}
		if o.batch != nil {
			if size += o.info.Size; size > c.room {
				o.batch = nil
			}
		}
		c.all[o.info.Key] = o
	}
}

// release drops records up to a number, which are needed no more.
func (c *tailCache) release(upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.all {
		if o.batch != nil && o.span.last <= upTo {
			o.batch = nil
			c.all[key] = o
		}
	}
}

// readTail reads the objects of the tail.
func (h *History) readTail(ctx context.Context, known *tailCache) error {
	var list []tailObject
	var unread []*tailObject
	for info, err := range h.b.List(ctx, tailDir, "") {
		if err != nil {
			return err
		}
		if seq, ok := parseTailKey(info.Key); ok {
			list = append(list, tailObject{seq: seq, info: info})
		}
	}
	for i := range list {
		if o, ok := known.get(list[i].info); ok {
			list[i] = o
		} else {
			unread = append(unread, &list[i])
		}
	}
	kept := int64(0)
	for len(unread) > 0 {
		n, size := 0, int64(0)
		for n < min(len(unread), tailAtOnce) && (n == 0 || size+unread[n].info.Size <= tailBytesAtOnce) {
			size += unread[n].info.Size
			n++
		}
		var group sync.WaitGroup
		for _, o := range unread[:n] {
			group.Go(func() { o.read(ctx, h.b) })
		}
		group.Wait()
		for _, o := range unread[:n] {
			if kept += o.info.Size; kept > known.room {
				o.batch = nil
			}
		}
		unread = unread[n:]
	}
	known.keep(list)
	var put placed
	for _, o := range list {
		if err := h.noteTail(o, &put); err != nil {
			return err
		}
	}
	h.settle(put)
	return nil
}

// read reads what matters of an object.
func (o *tailObject) read(ctx context.Context, b bucket.Bucket) {
	var all object
	if all, o.err = getObject(ctx, b, o.info.Key); o.err != nil {
		return
	}
	if o.nonce, o.fence = all.nonce, all.fence; all.batch != nil {
		o.span = all.batch.span(0)
		o.span.before, o.span.sound, o.batch = all.batch.before, true, all.batch
	}
}

func (h *History) noteTail(o tailObject, put *placed) error {
	switch {
	case errors.Is(o.err, bucket.ErrNotFound): // merged meanwhile
		h.moved = true
		return nil
	case errors.Is(o.err, ErrBroken):
		h.next = o.seq + 1
		h.damaged = append(h.damaged, spoiled{o.info.Key, o.err.Error()})
		return nil
	case o.err != nil:
		return o.err
	}
	h.next = o.seq + 1
	if put.note(o); o.fence == nil {
		s := o.span
		s.key, s.size, s.batch = o.info.Key, o.info.Size, o.batch
		h.spans = append(h.spans, s)
	}
	return nil
}
