package crawler

import (
	"crypto/sha256"
	"testing"

	"odarchive/crawler/warc/heads"
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
	f, err := n.Pipeline.Archive.Fetched(v.ID)
	if err != nil {
		t.Fatal(err)
	}
	head := heads.Response{Status: f.Visit.Status, Header: f.Headers, Size: f.Size, Exchange: f.Exchange}.HTTP()
	mark := sha256.Sum256(head)
	sum, ok, err := n.Pipeline.Archive.BlockDigest(v.ID, [8]byte(mark[:8]))
	if want := sha256.Sum256(append(head, text...)); err != nil || !ok || sum != want {
		t.Errorf("the digest is %x (%v, %v), want %x, for the head\n%s", sum, ok, err, want, head)
	}
}
