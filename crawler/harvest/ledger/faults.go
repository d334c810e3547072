package ledger

import (
	"encoding/hex"
	"slices"
)

// faults of a portal's harvests are entries that the source failed to give and that nobody knows by name.
type faults struct {
	Nameless []string         `json:",omitempty"` // of the harvest under way, each once; "" where one cannot be told from another
	Lasting  map[string]int64 `json:",omitempty"` // those of the last whole harvest: the first campaign of those in a row that met it
	Partly   []int64          `json:",omitempty"` // campaigns of the last whole harvests, in a row, that had such faults
	Beside   int64            `json:",omitempty"` // what a campaign from this one on met is none of the faults
	Waited   int64            `json:",omitempty"` // what was met before this campaign only is not waited for any longer
}

const (
	patience     = 5    // whole harvests that wait for an entry
	mostNameless = 1000 // faults of one harvest that are told apart
)

func (f *faults) add(fault string) {
	if fault != "" {
		id := short(fault)
		fault = hex.EncodeToString(id[:8])
	}
	if len(f.Nameless) >= mostNameless {
		fault = ""
	}
	if !slices.Contains(f.Nameless, fault) {
		f.Nameless = append(f.Nameless, fault)
	}
}

// whole harvest of a campaign has come to its end.
func (f *faults) whole(campaign int64) {
	lasting := map[string]int64{}
	f.Beside, f.Waited = 0, 0
	for _, fault := range f.Nameless {
		first, known := f.Lasting[fault]
		if !known || fault == "" {
			first = campaign
		}
		lasting[fault] = first
		f.Beside = max(f.Beside, first)
	}
	f.Lasting = lasting
	if len(f.Nameless) == 0 {
		f.Partly = nil
		return
	}
	if !slices.Contains(f.Partly, campaign) {
		f.Partly = append(f.Partly, campaign)
	}
	if f.Partly = f.Partly[max(0, len(f.Partly)-patience):]; len(f.Partly) == patience {
		f.Waited = f.Partly[0]
	}
}

// excuse tells whether an entry that was last met by a campaign may be what the source failed to give.
func (f faults) excuse(met int64) bool { return met < f.Beside && met >= f.Waited }
