package vault

import (
	"fmt"
	"slices"
	"time"
)

// holes returns sentences about records that were acknowledged before a time, and that a restore of that time cannot
// have, since an object is missing or damaged. b is the history that is restored, and last its last record without a
// gap; without a history (nil), all records are meant.
func (h *History) holes(b *branch, last uint64, when milli) (list []string) {
	for _, s := range h.damaged {
		list = append(list, s.text)
	}
	for _, s := range h.strays() {
		if s.from <= when && (b == nil || s.last > last || s.epoch > h.newestOf(*b)) {
			list = append(list,
				fmt.Sprintf("%s: records %d to %d of epoch %d belong to no history, since the object that began the epoch is missing",
					s.key, s.first, s.last, s.epoch))
		}
	}
	for _, s := range h.snapshots {
		if !h.hasEpoch(s.epoch) && s.at <= when {
			list = append(list, fmt.Sprintf("%s belongs to no history, since the object that began epoch %d is missing", s.key, s.epoch))
		}
	}
	if b == nil {
		return list
	}
	return append(list, h.holesIn(*b, last, when)...)
}

// holesIn is holes for one history. The times of missing records are not known: they are after that of the last one
// before.
func (h *History) holesIn(b branch, last uint64, when milli) (list []string) {
	spans := h.spansOf(b)
	for _, s := range spans {
		if s.last == last && s.to >= when {
			return nil
		}
	}
	for _, s := range spans {
		if s.first > last+1 {
			return append(list,
				fmt.Sprintf("records %d to %d are missing, and there are records after them, committed from %s on", last+1, s.first-1,
					s.from.time().Format(time.RFC3339)))
		}
	}
	for _, f := range b.epochs[1:] {
		if f.Number > last {
			return append(list,
				fmt.Sprintf("records %d to %d are missing: epoch %d began after record %d", last+1, f.Number, f.Epoch, f.Number))
		}
	}
	for _, s := range h.snapshotsOf(b) {
		if s.number > last {
			return append(list, fmt.Sprintf("records %d to %d are missing before %s", last+1, s.number, s.key))
		}
	}
	w := h.writer
	if limit, ok := b.limit(w.Epoch); ok && limit == noLimit && w.Number > last {
		list = append(list, fmt.Sprintf("records %d to %d are missing: %s counts them", last+1, w.Number, writerKey))
	}
	return list
}

// incomplete returns sentences about histories that have records, but cannot be restored, at a time. If current
// is true, a newest history without any is meant as well, whose first copy may not be finished.
func (h *History) incomplete(list []branch, when milli, current bool) (texts []string) {
	for i, b := range list {
		snapshots, spans := h.snapshotsOf(b), h.spansOf(b)
		began := b.epochs[0].At.time().Format(time.RFC3339)
		switch {
		case len(snapshots) == 0 && len(spans) > 0 && spans[0].from <= when:
			texts = append(texts,
				fmt.Sprintf(
					"the history that began at %s (epoch %d) has records %d to %d and no state file: no moment of it can be restored",
					began, b.epochs[0].Epoch, spans[0].first, spans[len(spans)-1].last))
		case current && !h.hasBegun(b) && i == len(list)-1:
			texts = append(texts,
				fmt.Sprintf("the history that began at %s (epoch %d) has no complete copy of the archive: no moment of it can be restored",
					began, b.epochs[0].Epoch))
		case !current && len(snapshots) > 0 && !h.hasBegun(b) && snapshots[0].at <= when:
			_, last := path(spans, snapshots[0].number)
			texts = append(texts, h.holesIn(b, last, noLimit)...)
		case len(snapshots) > 0 && len(spans) > 0 && spans[0].last <= snapshots[0].number && spans[0].from <= when:
			texts = append(texts,
				fmt.Sprintf(
					"the history that began at %s (epoch %d) has record %d, and its first state file is %s: moments before that cannot "+
						"be restored", began, b.epochs[0].Epoch, spans[0].first, snapshots[0].key))
		}
	}
	return texts
}

// strays returns objects with records of epochs that no fence has begun, except those whose records are in a history.
func (h *History) strays() (list []span) {
	for _, s := range h.spans {
		if h.hasEpoch(s.epoch) {
			continue
		}
		same := func(o span) bool { return o.last == s.last && o.sum == s.sum && h.hasEpoch(o.epoch) }
		if !slices.ContainsFunc(h.spans, same) {
			list = append(list, s)
		}
	}
	return list
}

func (h *History) hasEpoch(epoch uint64) bool {
	return slices.ContainsFunc(h.fences, func(f fence) bool { return f.Epoch == epoch })
}

// newestOf returns the newest epoch of a history.
func (h *History) newestOf(b branch) uint64 { return b.epochs[len(b.epochs)-1].Epoch }

// structure returns sentences about all objects whose absence can be seen from the names of others. gaps are those
// about records that the newest history has in its first state file: the writer has found the gap and begun anew behind
// it, so only moments before are lost.
func (h *History) structure() (list, gaps []string) {
	list = append(list, h.flaws...)
	list = append(list, h.holes(nil, 0, noLimit)...)
	all := h.branches()
	if len(all) == 0 {
		return append(list, "no object says who began to write: no moment can be restored"), nil
	}
	list = append(list, h.incomplete(all, noLimit, true)...)
	newest := all[len(all)-1].epochs[0]
	sound := h.isWhole() && h.leads()
	for _, b := range all {
		note := func(last uint64) {
			texts := h.holesIn(b, last, noLimit)
			if began := b.epochs[0]; sound && began.Epoch < newest.Epoch && began.Log == newest.Log && newest.Number > last {
				gaps = append(gaps, texts...)
			} else {
				list = append(list, texts...)
			}
		}
		if snapshots := h.snapshotsOf(b); len(snapshots) > 0 {
			last := snapshots[0].number
			for _, s := range snapshots {
				if s.number > last {
					note(last)
				}
				if _, end := path(h.spansOf(b), s.number); end > last {
					last = end
				}
			}
			note(last)
		}
	}
	return list, gaps
}
