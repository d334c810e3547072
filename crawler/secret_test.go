package crawler

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/packed"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func TestNoUserAndNoPasswordOfAURLIsKeptLoggedReportedOrSent(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var log bytes.Buffer
	n.Pipeline.Log = slog.New(slog.NewTextHandler(&log, nil))
	n.Workers = 1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s: credentials were sent", r.URL)
		}
		switch r.URL.Path {
		case "/moved.csv":
			http.Redirect(w, r, "http://other:hunter2@"+r.Host+"/to.csv", http.StatusFound)
		case "/robots.txt":
			http.NotFound(w, r)
		default:
			w.Write([]byte("a,b\n1,2\n"))
		}
	}))
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	n.add(t, "http://somebody:hunter2@"+host+"/a.csv", s.URL+"/moved.csv")
	if _, err := n.Inject(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	versions := 0
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) {
		versions += r.Versions
		fmt.Fprintf(&said, "%+v\n", r)
	}})
	if err != nil || versions != 2 {
		t.Fatalf("%d versions, %v: %s", versions, err, said.String())
	}
	visits, err := n.Pipeline.Archive.Activities(t.Context(), catalog.ActivityQuery{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&said, "%+v\n%s", visits, log.String())
	err = n.Pipeline.Archive.Quads(context.Background(), func(quads []term.Quad) error { fmt.Fprintln(&said, quads); return nil })
	if err == nil {
		err = n.db.View(func(txn *kv.Txn) error {
			for _, space := range []kv.Space{kv.SpaceFrontier, kv.SpaceDue, kv.SpaceQueue, kv.SpaceHosts, kv.SpaceArchive,
				kv.SpaceArchiveIdx, kv.SpacePoliteness, kv.SpaceDict} {
				if err := txn.Scan(space, nil, nil, func(k, v []byte) (bool, error) {
					if space == kv.SpaceArchive {
						var err error
						if v, err = packed.Plain(v); err != nil {
							return false, err
						}
					}
					fmt.Fprintf(&said, "%s %s\n", k, v)
					return true, nil
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "somebody", "other:"} {
		if i := strings.Index(said.String(), secret); i >= 0 {
			t.Errorf("%q stands in ...%.300q", secret, said.String()[max(0, i-100):])
		}
	}
	if !strings.Contains(said.String(), host+"/to.csv") {
		t.Error("where the redirect led is not recorded")
	}
}
