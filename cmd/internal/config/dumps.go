package config

import (
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/catalog"

	"github.com/spf13/pflag"
)

// maxDumps is the most dumps of a kind that may be kept.
const maxDumps = 100

// Dumps has the settings of dumps that a server makes.
type Dumps struct {
	Every time.Duration // 0 for never
	Kinds []string      // catalog.DumpNQuads, catalog.DumpHDT
	Keep  int           // of each kind
}

// DumpFlags adds the flags of a server that makes dumps.
func (c *Config) DumpFlags(f *pflag.FlagSet) {
	d := &c.Dumps
	f.DurationVar(&d.Every, "dump-every", d.Every,
		"how often all triples are written to files that /dumps lists, 0 for never; after a withdrawal all dumps are removed, and the "+
			"next ones come at their time")
	f.StringArrayVar(&d.Kinds, "dump-kind", d.Kinds,
		"kind of these files: nq.gz (all graphs, as compressed N-Quads) or hdt (the default graph, as HDT) (repeatable)")
	f.IntVar(&d.Keep, "dump-keep", d.Keep, "how many of these files are kept of each kind")
}

func (d Dumps) check() error {
	if d.Every != 0 && d.Every < time.Minute {
		return fmt.Errorf("--dump-every %s: expected a time such as 24h, at least 1m, or 0 for never", d.Every)
	}
	if len(d.Kinds) == 0 && d.Every != 0 {
		return fmt.Errorf("--dump-kind: --dump-every needs %s or %s", catalog.DumpNQuads, catalog.DumpHDT)
	}
	for i, kind := range d.Kinds {
		if kind != catalog.DumpNQuads && kind != catalog.DumpHDT || slices.Contains(d.Kinds[:i], kind) {
			return fmt.Errorf("--dump-kind %q: expected %s or %s, each once", kind, catalog.DumpNQuads, catalog.DumpHDT)
		}
	}
	if d.Keep < 1 || d.Keep > maxDumps {
		return fmt.Errorf("--dump-keep %d: expected a number from 1 to %d", d.Keep, maxDumps)
	}
	return nil
}
