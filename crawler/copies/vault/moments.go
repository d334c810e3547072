package vault

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Moments is a time of which every moment can be restored.
type Moments struct {
	From, To    time.Time `json:"-"`
	First, Last uint64    // write sets of the database
	Epochs      int       // how often a process became the writer
	Bytes       int64     // of the log
	Snapshots   int
}

// Moments returns the times that can be restored, oldest first.
func (h *History) Moments() (list []Moments) {
	for _, b := range h.branches() {
		if !h.hasBegun(b) {
			continue
		}
		spans := h.spansOf(b)
		var now *Moments
		for _, s := range h.snapshotsOf(b) {
			if now != nil && s.number <= now.Last {
				now.Snapshots++
				continue
			}
			ways, last := path(spans, s.number)
			m := Moments{From: s.at.time(), To: s.at.time(), First: s.number, Last: last, Epochs: len(b.epochs), Snapshots: 1}
			for _, w := range ways {
				m.To, m.Bytes = w.to.time(), m.Bytes+w.size
			}
			list = append(list, m)
			now = &list[len(list)-1]
		}
	}
	return list
}

// Writer describes who writes the archive: its address, if it has told one, and its epoch.
func (h *History) Writer() (url string, epoch uint64) { return h.writer.URL, h.writer.Epoch }

// Created returns when the vault was begun.
func (h *History) Created() time.Time { return h.created }

// Target is a moment that can be restored.
type Target struct {
	Number uint64    // of the last write set
	Time   time.Time // when it was committed
	Epoch  uint64

	// Holes has sentences about what was acknowledged before the moment and is missing in the vault. Restore refuses
	// such a target unless GoOn is set.
	Holes []string
	GoOn  bool

	moment bool // a time was named, not the end
	log    [16]byte
	from   snapshot
	way    []span
}

// At returns the last commit that is not after a time; the zero time stands for the last commit of all.
func (h *History) At(ctx context.Context, t time.Time) (Target, error) {
	when := milli(noLimit)
	if !t.IsZero() {
		when = milliOf(t)
	}
	target, err := h.at(ctx, when)
	if err != nil || len(target.Holes) > 0 { // the writer may have deleted objects while the others were listed
		fresh, failed := Open(ctx, h.b)
		if failed != nil {
			return Target{}, failed
		}
		*h = *fresh
		target, err = h.at(ctx, when)
	}
	target.moment = !t.IsZero()
	return target, err
}

func (h *History) at(ctx context.Context, when milli) (Target, error) {
	all := h.branches()
	for i := len(all) - 1; i >= 0; i-- {
		target, ok, err := h.within(ctx, all[i], when)
		if err != nil {
			return target, err
		}
		if ok {
			_, last := path(h.spansOf(all[i]), target.from.number)
			target.Holes = append(h.holes(&all[i], last, when), h.incomplete(all[i+1:], when, false)...)
			return target, nil
		}
	}
	if texts := append(h.holes(nil, 0, when), h.incomplete(all, when, false)...); len(texts) > 0 {
		return Target{}, fmt.Errorf("%w: %w: %s", ErrNoMoment, ErrBroken, sentences(texts))
	}
	list := h.Moments()
	if len(list) == 0 {
		return Target{}, fmt.Errorf("%w: it has no complete copy of the archive yet", ErrNoMoment)
	}
	return Target{}, fmt.Errorf("%w: it begins at %s", ErrNoMoment, list[0].From.Format(time.RFC3339))
}

// sentences joins the first few of some texts.
func sentences(list []string) string {
	const most = 5
	text := strings.Join(list[:min(len(list), most)], "; ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// within is At within a branch. ok is false if the branch begins later.
func (h *History) within(ctx context.Context, b branch, when milli) (t Target, ok bool, err error) {
	snapshots := slices.DeleteFunc(h.snapshotsOf(b), func(s snapshot) bool { return s.at > when })
	if len(snapshots) == 0 || !h.hasBegun(b) {
		return t, false, nil
	}
	t.log, t.Epoch = b.epochs[0].position().Log, b.epochs[0].Epoch
	s := snapshots[len(snapshots)-1]
	t.from, t.Number, t.Time = s, s.number, s.at.time()
	way, last := path(h.spansOf(b), s.number)
	for len(way) > 0 && way[len(way)-1].from > when {
		way = way[:len(way)-1]
	}
	t.way = way
	if len(way) == 0 {
		return t, true, nil
	}
	end := way[len(way)-1]
	t.Number, t.Time = min(end.last, last), end.to.time()
	if end.to <= when && end.last == h.fullLast(end) {
		return t, true, nil
	}
	o, err := getObject(ctx, h.b, end.key)
	if err != nil {
		return t, false, err
	}
	t.Number, t.Time = s.number, s.at.time()
	if len(way) > 1 {
		t.Number, t.Time = way[len(way)-2].last, way[len(way)-2].to.time()
	}
	for _, e := range o.batch.entries {
		if e.at <= when && e.Number <= end.last && e.Number > t.Number {
			t.Number, t.Time = e.Number, e.at.time()
		}
	}
	return t, true, nil
}

// fullLast returns the number of the last record in an object, also of those that do not count.
func (h *History) fullLast(of span) uint64 {
	for _, s := range h.spans {
		if s.key == of.key {
			return s.last
		}
	}
	return of.last
}

// records yields the records of a target after its state file, and checks that they follow one another.
func (h *History) records(ctx context.Context, t Target) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		at, sum := t.from.number, t.from.sum
		for s, get := range h.objects(ctx, t.way) {
			if s.first > t.Number {
				return
			}
			o, err := get()
			if err == nil && o.batch == nil {
				err = fmt.Errorf("%w: %s has no records", ErrBroken, s.key)
			}
			if err != nil {
				yield(entry{}, err)
				return
			}
			before := o.batch.before
			for _, e := range o.batch.entries {
				if e.Number > at && (e.Number != at+1 || before != sum) || e.Number == at && e.Sum != sum {
					yield(entry{}, fmt.Errorf("%w: %s: record %d does not follow record %d", ErrBroken, s.key, e.Number, at))
					return
				}
				before = e.Sum
				if e.Number <= at {
					continue
				}
				if e.Number > t.Number {
					return
				}
				if !yield(e, nil) {
					return
				}
				at, sum = e.Number, e.Sum
			}
		}
		if at != t.Number {
			yield(entry{}, fmt.Errorf("%w: the log ends with record %d", ErrBroken, at))
		}
	}
}
