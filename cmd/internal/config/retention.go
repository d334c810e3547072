package config

import (
	"fmt"
	"reflect"
	"time"

	"odarchive/crawler/queue/retention"

	"github.com/spf13/pflag"
)

// retentionTable is the name of the tables in the settings file that say which versions need not be kept.
const retentionTable = "retention"

// Retention has the settings of retention.
type Retention struct {
	Rules []retention.Rule // of the settings file
	At    string           // time of day, in local time, at which a server applies them, as 03:30; "" for never
}

// RetentionRules returns the [[retention]] tables of a settings file, none if file is nil.
func RetentionRules(file *File) ([]retention.Rule, error) {
	if file == nil {
		return nil, nil
	}
	var all map[string]any
	if _, err := file.decode(&all); err != nil {
		return nil, err
	}
	if _, isList := all[retentionTable].([]map[string]any); !isList {
		return nil, nil // settings such as at in [retention], or nothing
	}
	var tables struct {
		Retention []retention.Rule `toml:"retention"`
	}
	meta, err := file.decode(&tables)
	if err != nil {
		return nil, err
	}
	if err := file.check(retentionTable, reflect.TypeOf(tables), meta.Undecoded()); err != nil {
		return nil, err
	}
	rules, err := retention.Check(tables.Retention)
	if err != nil {
		return nil, file.errorf("%w", err)
	}
	return rules, nil
}

// RetentionFlags adds the flags of a server that applies rules of retention.
func (c *Config) RetentionFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Retention.At, "retention-at", c.Retention.At,
		"local time of day at which the [[retention]] tables of the settings file are applied, as 03:30; never without it")
}

func (r Retention) check() error {
	if _, err := r.Time(); err != nil && r.At != "" {
		return err
	}
	return nil
}

// Time returns At since midnight.
func (r Retention) Time() (time.Duration, error) {
	t, err := time.Parse("15:04", r.At)
	if err != nil {
		return 0, fmt.Errorf("--retention-at %q: expected a time such as 03:30", r.At)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}
