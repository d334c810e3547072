package discover

// words returns the keyword score of a link (ARCOMEM D5.2 §5): what the anchor's words and those of the address count.
// By default that is 1 for a word for data in the anchor and 0.5 for one in the address.
func (w *walk) words(l *link) (score float32, anchor, address bool) {
	return float32(w.scorer.Link(l.text, l.url)), w.scorer.Word(l.text) != "", w.scorer.Link("", l.url) > 0
}
