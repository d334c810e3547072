package harvest

import "odarchive/crawler/catalog"

// read reads the source. A harvest of changes cannot see what its portal has ceased to list. Therefore it ends with a
// question: how many datasets are listed now. If these are more than are known, the changes are read once more, for what
// was added meanwhile. If the numbers still differ, the whole portal is read, in the same harvest. That they agree is said,
// but does not mean that nothing was removed: as many may have been added, with an old date.
func (s *step) read(h Harvester, from string) error {
	err := h.Harvest(s.ctx, from, s)
	counter, counts := h.(Counter)
	if err != nil || !counts || from == "" || !s.opts.Part.IsZero() {
		return err
	}
	for !s.whole && s.portal.IRI != "" && !s.portal.TellsGone {
		total, ok := counter.Count(s.ctx)
		if !ok {
			return s.ctx.Err()
		}
		if err := s.keep(s.mark); err != nil {
			return err
		}
		known, err := s.keeper.Listed(s.ctx, s.report, s.portal.IRI)
		if err != nil {
			s.broken = err
			return err
		}
		if total == known {
			s.agreed = catalog.Counted(total)
		}
		if total == known || from == "" {
			return nil
		}
		next := ""
		if total > known && !s.again {
			next = from
		}
		s.again, from = true, next
		if err := s.readAgain(h, from); err != nil {
			return err
		}
	}
	if s.again && s.whole { // the difference that stays is the portal's way of counting
		if total, ok := counter.Count(s.ctx); ok {
			s.total = catalog.Counted(total)
		}
	}
	return s.ctx.Err()
}

// readAgain reads the source from a mark on, and counts anew what it brings.
func (s *step) readAgain(h Harvester, from string) error {
	mark := s.mark
	if from == "" {
		mark = "" // a harvest that is cut off begins with the whole portal
	}
	if err := s.keep(mark); err != nil {
		return err
	}
	r := &s.report
	r.Datasets, r.Seeds, r.Triples, r.Invalid, r.Unknown, r.Missing, r.Skipped = 0, 0, 0, 0, 0, 0, nil
	return h.Harvest(s.ctx, from, s)
}
