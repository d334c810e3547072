package crawler

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"

	"pgregory.net/rapid"
)

// spellings draws URLs of a host as people, portals and pages write them, all of which a browser fetches.
func spellings(host string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		scheme := rapid.SampledFrom([]string{"http://", "HTTP://", "http:/", `http:\\`, " http://", "http:\t//"}).Draw(t, "scheme")
		user := rapid.SampledFrom([]string{"", "", "", "user@", "user:pass%word@"}).Draw(t, "user")
		part := rapid.OneOf(
			rapid.SampledFrom([]string{"100%.csv", "%", "%zz", "%4", "%00", "%FF", "a b", "[1]", "{x}", "a|b^c`d", `"q"`, "<i>", "ü",
				"\xfc", "..", ".", "%2e%2E", "a;b=c", ";jsessionid=1", "a\tb", `c\d`, ""}),
			rapid.StringN(0, 12, 40))
		path := strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "path"), "/")
		path = strings.NewReplacer("#", "", "?", "").Replace(path)
		query := rapid.SampledFrom([]string{"", "", "?", "?a=%&b", "?q=100%", "?ü=ö&ü", "?a=b?c=d", "?PHPSESSID=1"}).Draw(t, "query")
		fragment := rapid.SampledFrom([]string{"", "", "#", "#a%b"}).Draw(t, "fragment")
		return scheme + user + host + "/" + path + query + fragment
	})
}

// rawServer answers every request target, since net/http's server refuses many that are in use. asked reports whether a
// target was requested.
func rawServer(t *testing.T) (asked func(target string) bool, host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	targets := map[string]bool{}
	answer := func(c net.Conn) {
		defer c.Close()
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if line := strings.Split(lines.Text(), " "); len(line) == 3 && line[0] == "GET" {
				mu.Lock()
				targets[line[1]] = true
				mu.Unlock()
				status, body := "200 OK", "a,b\n1,"+strconv.Quote(line[1])+"\n"
				if line[1] == "/robots.txt" {
					status, body = "404 Not Found", ""
				}
				fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
			}
		}
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	return func(target string) bool {
		mu.Lock()
		defer mu.Unlock()
		return targets[target]
	}, listener.Addr().String()
}

// Whatever a browser fetches can be registered, is found in its own spelling, and is asked for as a browser asks for
// it.
func TestWhatABrowserFetchesCanBeRegistered(t *testing.T) {
	t.Parallel()
	asked, host := rawServer(t)
	n := newNode(t)
	rapid.Check(t, func(t *rapid.T) {
		var seeds []catalog.Seed
		for _, raw := range rapid.SliceOfN(spellings(host), 1, 20).Draw(t, "urls") {
			seeds = append(seeds, catalog.Seed{URL: raw})
		}
		ctx := t.Context()
		if fresh, err := n.Add(ctx, seeds); err != nil || len(fresh) != len(seeds) {
			t.Fatalf("%d of %d were registered: %v", len(fresh), len(seeds), err)
		}
		if _, err := n.Run(ctx, RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
		for _, s := range seeds {
			r, err := n.Intake.Archive.Resource(ctx, s.URL)
			if err != nil || r.Host != host || strings.Contains(r.FileName, "/") {
				t.Fatalf("%q: %+v, %v", s.URL, r, err)
			}
			if r.Outcome != catalog.Archived && r.Outcome != catalog.Unchanged {
				t.Fatalf("%q: %s", s.URL, r.Outcome)
			}
			first, err := address.Parse(r.URL) // the first of all spellings
			if err != nil {
				t.Fatal(err)
			}
			target := first.PathAndQuery()
			if strings.HasPrefix(target, "//") {
				target = first.Standard().RequestURI() // see Standard
			}
			if !asked(target) {
				t.Errorf("%q was never asked for", target)
			}
			found := 0
			err = n.Intake.Archive.ResourcesOfHost(ctx, strings.ToUpper(host), "", func(catalog.Resource) bool { found++; return false })
			if err != nil || found == 0 {
				t.Fatalf("the host %s has no resources, %v", host, err)
			}
		}
	})
}

// The list takes more than one transaction.
func TestAListOfOddURLsIsRegisteredWhole(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	seeds := make([]catalog.Seed, SeedsPerTxn+101)
	for i := range seeds {
		seeds[i].URL = fmt.Sprintf("http://a.example/%d%%.csv", i)
	}
	fresh, err := n.Add(t.Context(), seeds)
	if err != nil || len(fresh) != len(seeds) {
		t.Fatalf("%d are registered, %v", len(fresh), err)
	}
	seeds = append([]catalog.Seed{{URL: "http://a.example/one-more.csv"}}, seeds...)
	seeds[len(seeds)-1].URL = "http://a..example/"
	if fresh, err := n.Add(t.Context(), seeds); err == nil || len(fresh) > 0 {
		t.Errorf("%d are registered beside a malformed one, %v", len(fresh), err)
	}
	if _, err := n.Intake.Archive.Resource(t.Context(), seeds[0].URL); err == nil {
		t.Error("one is registered although another is malformed")
	}
}
