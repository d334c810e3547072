package discover

import (
	"net/url"
	"regexp"
	"strings"
)

// dataWords match names of data in anchors and addresses.
var dataWords = regexp.MustCompile(`(?i)(open.?data|offene.?daten|donn[eé]es|otev[rř]en|datos|dat(a|en|ov)|dataset|statisti|estad[ií]st|download|herunterladen|t[eé]l[eé]charg|st[aá]hn|descarg|csv|xlsx|json|xml|zip)`)

// words returns the keyword score of a link (ARCOMEM D5.2 §5): 1 for a word in the anchor, 0.5 for one in the address.
func (w *walk) words(l *link) float32 {
	score := float32(0)
	if w.worded(l.text) {
		score++
	}
	_, rest, _ := strings.Cut(l.url, "://")
	_, rest, _ = strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	if w.worded(rest) {
		score += 0.5
	}
	return score
}

// worded reports whether a text has a word for data, or one of the operator's.
func (w *walk) worded(text string) bool {
	if dataWords.MatchString(text) {
		return true
	}
	if len(w.opts.Keywords) > 0 {
		text = strings.ToLower(text)
		for _, k := range w.opts.Keywords {
			if strings.Contains(text, k) {
				return true
			}
		}
	}
	return false
}
