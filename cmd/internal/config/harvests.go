package config

import (
	"fmt"
	"reflect"

	"odarchive/crawler/harvest/timetable"
	"odarchive/crawler/spelling"

	"github.com/BurntSushi/toml"
)

// harvestTable is the name of the tables in the settings file that say what is harvested, and when.
const harvestTable = "harvest"

// HarvestPlans returns the [[harvest]] tables of a settings file, none if file is "". It does not know which kinds there
// are.
func HarvestPlans(file string) ([]timetable.Plan, error) {
	if file == "" {
		return nil, nil
	}
	var tables struct {
		Harvest []timetable.Plan `toml:"harvest"`
	}
	meta, err := toml.DecodeFile(file, &tables)
	if err != nil {
		return nil, fmt.Errorf("config file %s: %w", file, err)
	}
	for _, key := range meta.Undecoded() {
		if len(key) > 1 && key[0] == harvestTable {
			return nil, fmt.Errorf("config file %s: a [[harvest]] table has no setting %q%s", file, key[1:].String(), spelling.KeyHint(reflect.TypeOf(tables), key))
		}
	}
	seen := map[string]bool{}
	for i, p := range tables.Harvest {
		if tables.Harvest[i], err = p.Check(); err != nil {
			return nil, fmt.Errorf("config file %s: %w", file, err)
		}
		id := tables.Harvest[i].ID()
		if seen[id] {
			return nil, fmt.Errorf("config file %s: there are two [[harvest]] tables for %s %s", file, p.Kind, p.URL)
		}
		seen[id] = true
	}
	return tables.Harvest, nil
}
