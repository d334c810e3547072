package main

// figure is a number that is not known exactly: at least low, at most high, most likely likely.
type figure struct{ low, likely, high float64 }

// exactly returns a figure without a range.
func exactly(v float64) figure { return figure{v, v, v} }

// input is a figure with its name, unit and source, as the page lists it.
type input struct {
	Name, Unit, Source string
	Measured           bool
	figure
}

// model is all inputs.
type model struct {
	// Measured. Times are of one undisturbed core, in which gzip -6 of a table of 50 KB takes 1.04 ms.
	examining, recording, hashing, notModified, turn        input
	versionRecords, urlRecords, twice, logNew, logUnchanged input
	deflated, changedVersion, parity, frontierSlower        input
	// Assumed.
	size, changes, conditional, failing, answer, packs, verify input
}

// inputs returns the inputs in the order of the page.
func inputs() *model {
	return &model{
		examining: input{"fetching, inspecting and packing a new file", "ns of a core a byte",
			"crawler/BENCHMARKS-growth.md: 1.8 ms for 50 KB, at all sizes of the archive", true, figure{20, 36, 60}},
		recording: input{"committing and indexing it", "ms of a core",
			"crawler/BENCHMARKS-growth.md: 1.7 ms at 1,000 files, 3.4 at 10,000, 5.8 at 30,000, 13.4 at 100,000, where it is higher than " +
				"in archives with fewer alike columns", true, figure{1.6, 4, 15}},
		hashing: input{"fetching the same bytes again, beyond a 304", "ns of a core a byte",
			"crawler/BENCHMARKS.md: 0.07 gzips for 50 KB", true, figure{1, 1.5, 4}},
		notModified: input{"not modified (304)", "ms of a core",
			"crawler/BENCHMARKS.md: 0.2 to 0.3 ms; 97 to 99 % of the rate with ten million URLs (crawler/queue/frontier)", true,
			figure{0.2, 0.4, 0.9}},
		turn: input{"the serial turn of a visit: one transaction after another", "ms",
			"profile of a crawl on two cores; not repeated for this page", true, figure{0.4, 0.7, 1.0}},
		versionRecords: input{"records, index and triples of a version", "bytes",
			"crawler/BENCHMARKS-weight.md: 7,900 compacted to 10,200 with 8 columns", true, figure{2000, 8600, 10600}},
		urlRecords: input{"a URL that is known", "bytes", "crawler/BENCHMARKS-lists.md: 106 MB for 100,000, before compacting", true,
			figure{500, 800, 1060}},
		twice: input{"database and state file, with what waits to be merged", "times", "everything is there twice; merges", true,
			figure{2, 2.3, 3}},
		logNew: input{"log of a new version", "bytes", "crawler/BENCHMARKS.md: 25 KB of keys and values, 38 entries", true,
			figure{15000, 25000, 33000}},
		logUnchanged: input{"log of a visit that found nothing", "bytes",
			"incremental backup of 300 such visits: 5.2 KB each, before records were binary", true, figure{1500, 3000, 5200}},
		deflated: input{"first version, stored", "of its size",
			"crawler/archive/content/BENCHMARKS.md: gzip -6 is 197 of 651 MB, level 1 is 1.05 times that", true, figure{0.2, 0.32, 0.6}},
		changedVersion: input{"a later version, stored after compacting", "of its size",
			"the same: 69.8 MB for six versions, of which the first takes 34.5", true, figure{0.03, 0.065, 0.3}},
		parity: input{"parity of packs", "of their size", "crawler/archive/content/FORMAT.md: 2 shards for 32", true,
			exactly(2.0 / 32)},
		frontierSlower: input{"visits of a frontier of ten million beside one of a hundred thousand", "rate",
			"crawler/queue/frontier/BENCHMARKS.md: 0.87 to 0.95", true, figure{0.87, 0.92, 0.95}},
		size: input{"size of a file", "bytes", "assumed: half of all files are far smaller, few are far larger", false,
			figure{200e3, 1e6, 3e6}},
		changes: input{"changes of a file in a year", "", "assumed: most files of portals never change, some daily", false,
			figure{0.5, 2, 12}},
		conditional: input{"hosts that answer 304", "share of unchanged visits", "assumed", false, figure{0.3, 0.5, 0.8}},
		failing: input{"visits that fail", "share", "assumed: a tenth of the links of portals are dead", false,
			figure{0.05, 0.1, 0.2}},
		answer: input{"traffic of a visit without a body", "bytes", "assumed: request, head, TLS", false, figure{1500, 3000, 8000}},
		packs:  input{"size of a sealed pack", "bytes", "the limit is 64 MiB", true, figure{32e6, 60e6, 64e6}},
		verify: input{"what is read of the database to verify it when it opens", "bytes a second",
			"assumed: one NVMe disk, checksums on eight cores", false, figure{0.5e9, 1e9, 2e9}},
	}
}

// all returns the inputs in order, measured ones first.
func (m *model) all() []input {
	return []input{m.examining, m.recording, m.hashing, m.notModified, m.turn, m.versionRecords, m.urlRecords, m.twice, m.logNew,
		m.logUnchanged,
		m.deflated, m.changedVersion, m.parity, m.packs, m.frontierSlower, m.size, m.changes, m.conditional, m.failing, m.answer, m.verify}
}
