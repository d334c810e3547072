package discover

// pace is what the latest requests brought: files, and what was expected of them. An old request counts less.
type pace struct {
	Requests float64 `json:"requests"` // that count
	Files    float64 `json:"files"`
	Promised float64 `json:"promised"`
	Since    int     `json:"since"` // requests since the last file
}

const (
	paceMemory = 150 // requests
	leastYield = 1.0 // files that 100 requests must promise
	patience   = 300 // requests before a discovery may end early
	drought    = 150 // and without a file
	leastWorth = 0.1 // files per request that a new link must promise in a later round
)

// note adds what some requests brought.
func (p *pace) note(requests, files int, promised float64) {
	for range min(requests, 20) {
		keep := 1 - 1.0/paceMemory
		p.Requests, p.Files, p.Promised = p.Requests*keep+1, p.Files*keep, p.Promised*keep
	}
	p.Files += float64(files)
	p.Promised += promised
	p.Since += requests
	if files > 0 {
		p.Since = 0
	}
}

// expected returns the files that the next 100 requests should bring, by what the latest ones brought, and by what
// the best links promise: promises count as much as they were kept of late. promised is that of 100 links.
func (p *pace) expected(promised float64) float64 {
	if p.Requests < 1 {
		return promised
	}
	kept := (p.Files + 0.5) / (p.Promised + 0.5)
	return max(100*(p.Files+0.05)/(p.Requests+1), promised*min(1, kept))
}
