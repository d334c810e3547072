package crawler

import (
	"crypto/sha256"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/exchange/warc"
)

func TestTheDigestOfAnExportIsKnownWhenAVersionIsStored(t *testing.T) {
	t.Parallel()
	n, s := newNode(t), newSite(t)
	const text = "id,name\n1,a\n2,b\n"
	s.set("/a.csv", text)
	url := s.URL + "/a.csv"
	n.add(t, url)
	n.crawl(t, RunOptions{})
	v, err := n.Pipeline.Archive.Newest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var head []byte
	var sum [32]byte
	var ok bool
	err = n.Pipeline.Archive.EachFetched([]string{v.ID},
		func(_ int, f archive.Fetched, digest func([8]byte) ([32]byte, bool, error)) (err error) {
			head = warc.ResponseHead{Status: f.Visit.Status, Header: f.Headers, Size: f.Size, Exchange: f.Exchange}.HTTP()
			mark := sha256.Sum256(head)
			sum, ok, err = digest([8]byte(mark[:8]))
			return err
		})
	if want := sha256.Sum256(append(head, text...)); err != nil || !ok || sum != want {
		t.Errorf("the digest is %x (%v, %v), want %x, for the head\n%s", sum, ok, err, want, head)
	}
}
