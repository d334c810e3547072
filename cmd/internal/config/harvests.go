package config

import (
	"reflect"

	"odarchive/crawler/harvest/timetable"
)

// harvestTable is the name of the tables in the settings file that say what is harvested, and when.
const harvestTable = "harvest"

// HarvestPlans returns the [[harvest]] tables of a settings file, none if file is nil. It does not know which kinds
// there are.
func HarvestPlans(file *File) ([]timetable.Plan, error) {
	if file == nil {
		return nil, nil
	}
	var tables struct {
		Harvest []timetable.Plan `toml:"harvest"`
	}
	meta, err := file.decode(&tables)
	if err != nil {
		return nil, err
	}
	if err := file.check(harvestTable, reflect.TypeOf(tables), meta.Undecoded()); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range tables.Harvest {
		if tables.Harvest[i], err = p.Check(); err != nil {
			return nil, file.errorf("%w", err)
		}
		id := tables.Harvest[i].ID()
		if seen[id] {
			return nil, file.errorf("there are two [[harvest]] tables for %s %s", p.Kind, p.URL)
		}
		seen[id] = true
	}
	return tables.Harvest, nil
}
