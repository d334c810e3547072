package discover

import (
	"strings"
	"testing"

	"odarchive/vocab"
)

func TestThePortalSaysWhichSoftwareTheSiteRuns(t *testing.T) {
	t.Parallel()
	s := &site{pages: map[string]string{
		"/": strings.Replace(pageOf("City", "/data", "Open data"), "<head>", `<head><meta name="generator" content="TYPO3 12.4 CMS">`,
			1),
		"/data": pageOf("Data", "/index.php?eID=dumpFile&t=f&f=1&token=a", "Trees (CSV)", "/f/2.csv", "Parks"),
	}}
	k, _ := discovered(t, s, "", Options{})
	p := k.portals[len(k.portals)-1]
	if p.Software != "TYPO3 12.4" {
		t.Errorf("software %q", p.Software)
	}
	signs := 0
	for _, q := range p.Quads() {
		if q.P.Value() == vocab.ArcSoftwareSign && q.S.Value() == p.IRI {
			signs++
		}
	}
	if signs == 0 {
		t.Errorf("nothing says why: %+v", p.Statements)
	}
}
