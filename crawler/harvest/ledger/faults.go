package ledger

import (
	"encoding/hex"
	"slices"
)

// faults records entries that a source failed to return without saying which ones they are.
type faults struct {
	Nameless []string         `json:",omitempty"` // of the current harvest, each once; "" if they cannot be distinguished
	Lasting  map[string]int64 `json:",omitempty"` // faults of the last whole harvest, with the first campaign in a row that had them
	Partly   []int64          `json:",omitempty"` // latest whole harvests in a row that had such faults
	Beside   int64            `json:",omitempty"` // entries last met by this campaign or a later one are not at fault
	Waited   int64            `json:",omitempty"` // entries last met before this campaign are not waited for
}

const (
	patience    = 5    // number of whole harvests that wait for an entry
	maxNameless = 1000 // faults of one harvest that are distinguished
	maxHidden   = 10   // for each that a portal counts and always hides, it must show as many
)

func (f *faults) add(fault string) {
	if fault != "" {
		id := hash16(fault)
		fault = hex.EncodeToString(id[:8])
	}
	if len(f.Nameless) >= maxNameless {
		fault = ""
	}
	if !slices.Contains(f.Nameless, fault) {
		f.Nameless = append(f.Nameless, fault)
	}
}

// endWhole updates the faults at the end of a whole harvest. If the portal is doubted, because it names datasets that
// it did not return or because too many are missing, its faults are as new: nothing is given up.
func (f *faults) endWhole(campaign int64, doubted bool) {
	lasting := map[string]int64{}
	f.Beside, f.Waited = 0, 0
	for _, fault := range f.Nameless {
		first, known := f.Lasting[fault]
		if !known || fault == "" || doubted {
			first = campaign
		}
		lasting[fault] = first
		f.Beside = max(f.Beside, first)
	}
	f.Lasting = lasting
	if len(f.Nameless) == 0 || doubted {
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

// excuse reports whether an entry that a campaign was the last to meet may be one that the source failed to return.
func (f faults) excuse(met int64) bool { return met < f.Beside && met >= f.Waited }

// blind reports whether a campaign has a failure that the one before did not have, so that nothing that it did not
// meet, but that one did, can be withdrawn.
func (f faults) blind(campaign int64) bool { return f.Beside > 0 && f.Beside == campaign }
