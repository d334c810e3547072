package harvest

import "odarchive/crawler/catalog"

// read reads the source. A harvest of changes cannot see what its portal has ceased to list. Therefore it ends with a
// question: how many datasets are listed now. If these are more than are known, the changes are read once more, for
// what was added meanwhile. If the numbers still differ, the whole portal is read, in the same harvest. That they agree
// does not mean that nothing was removed: as many may have been added, with an old date. The names of all tell, where
// the source says them; otherwise the report only says that the numbers agree.
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
		lacks := false
		if total == known {
			if lacks, err = s.lacks(h, total); err != nil {
				return err
			}
		}
		if total == known && !lacks {
			s.agreed = catalog.Counted(total)
			return nil
		}
		if from == "" {
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
	if s.again && s.whole { // the difference that stays is the portal's way of counting, and of naming
		if total, ok := counter.Count(s.ctx); ok {
			s.total = catalog.Counted(total)
		}
		s.names, _ = s.namesOf(h, s.total.N())
	}
	return s.ctx.Err()
}

// lacks reports whether the source no longer names a dataset that is known. If it names them all, nothing was removed.
func (s *step) lacks(h Harvester, total int) (bool, error) {
	names, ok := s.namesOf(h, total)
	if !ok {
		return false, s.ctx.Err()
	}
	n, err := s.keeper.Lacking(s.ctx, s.report, s.portal.IRI, names)
	if err != nil {
		s.broken = err
		return false, err
	}
	s.named = n.Known() && n.N() == 0
	return n.N() > 0, nil
}

// namesOf returns the IRIs of the datasets that the source lists, as Dataset has them. A list that is shorter than the
// total was cut at a limit of the source.
func (s *step) namesOf(h Harvester, total int) (names []string, ok bool) {
	namer, ok := h.(Namer)
	if !ok {
		return nil, false
	}
	if names, ok = namer.Names(s.ctx); !ok || len(names) == 0 || len(names) < total {
		return nil, false
	}
	for i, name := range names {
		if iri, ok := AsIRI(name); ok {
			names[i] = iri
		}
	}
	return names, true
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
	portals := r.Portals
	r.begin()
	r.Portals, r.Unknown, r.Missing, r.Skipped, s.short = portals, 0, 0, nil, 0
	return h.Harvest(s.ctx, from, s)
}
