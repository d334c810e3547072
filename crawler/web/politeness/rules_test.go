package politeness

import (
	"strings"
	"testing"
	"time"
)

// The cases of RFC 9309, and others found in practice. Paths after '+' may be fetched, those after '-' may not.
var robotsCases = []struct {
	name, robots, paths string
}{
	{"an empty file allows everything", "", "+/ +/a"},
	{"comments alone allow everything", "# nothing\n", "+/a"},
	{"a path is a prefix", "User-agent: *\nDisallow: /a", "-/a -/abc -/a/b +/b +/A"},
	{"an empty Disallow allows everything", "User-agent: *\nDisallow:", "+/a"},
	{"everything is forbidden", "User-agent: *\nDisallow: /", "-/ -/a +/robots.txt"},
	{"robots.txt itself is always allowed", "User-agent: *\nDisallow: /robots.txt", "+/robots.txt -/robots.txt.bak"},
	{"the group of the crawler replaces the one for all", "User-agent: *\nDisallow: /\n\nUser-agent: odarchive\nDisallow: /x", "+/a -/x"},
	{"the group of another crawler does not concern us", "User-agent: otherbot\nDisallow: /", "+/a"},
	{"a name is no prefix of another", "User-agent: od\nDisallow: /\nUser-agent: odarchiver\nDisallow: /", "+/a"},
	{"names are compared without case", "User-Agent: ODArchive\nDisallow: /x", "-/x"},
	{"a version behind the name does not matter", "User-agent: odarchive/1.0 (bot)\nDisallow: /x", "-/x"},
	{"several agents share a group", "User-agent: a\nUser-agent: odarchive\nUser-agent: b\nDisallow: /x", "-/x"},
	{"groups of one agent are merged",
		"User-agent: odarchive\nDisallow: /x\n\nUser-agent: b\nDisallow: /\n\nUser-agent: odarchive\nDisallow: /y", "-/x -/y +/z"},
	{"groups for all are merged", "User-agent: *\nDisallow: /x\nUser-agent: *\nDisallow: /y", "-/x -/y"},
	{"an agent without rules may do everything", "User-agent: odarchive\n\nUser-agent: *\nDisallow: /x", "-/x"},
	{"a sitemap between agents does not end the group", "User-agent: odarchive\nSitemap: https://e/s.xml\nUser-agent: b\nDisallow: /x",
		"-/x"},
	{"a sitemap between rules does not end the group", "User-agent: *\nDisallow: /x\nSitemap: https://e/s.xml\nDisallow: /y", "-/x -/y"},
	{"rules before the first agent are nobody's", "Disallow: /\nUser-agent: *\nDisallow: /x", "+/a -/x"},
	{"unknown lines are passed over", "User-agent: *\nNoindex: /a\nFoo\nDisallow: /x", "+/a -/x"},
	{"a bad crawl delay does not spoil the file", "User-agent: *\nCrawl-delay: soon\nDisallow: /x", "-/x +/a"},
	{"a crawl delay before any agent does not spoil the file", "Crawl-delay: 5\nUser-agent: *\nDisallow: /x", "-/x +/a"},
	{"the longest match wins", "User-agent: *\nDisallow: /a\nAllow: /a/b", "-/a -/a/c +/a/b +/a/b/c"},
	{"order does not matter", "User-agent: *\nAllow: /a/b\nDisallow: /a", "-/a/c +/a/b"},
	{"Allow wins over an equally long Disallow", "User-agent: *\nDisallow: /page\nAllow: /page", "+/page"},
	{"Disallow of everything but one folder", "User-agent: *\nDisallow: /\nAllow: /public/", "+/public/a -/public -/"},
	{"a wildcard in the middle", "User-agent: *\nDisallow: /a/*/c", "-/a/b/c -/a/b/b/cd +/a/c +/x/a/b/c"},
	{"a wildcard at the beginning", "User-agent: *\nDisallow: *.csv", "-/a.csv -/x/a.csv?y +/a.cs"},
	{"a wildcard at the end changes nothing", "User-agent: *\nDisallow: /a*", "-/a -/ab +/b"},
	{"wildcards match at the beginning of the path only", "User-agent: *\nDisallow: /fish*.php",
		"-/fish.php -/fishheads/a.php?x +/catfish/fish.php"},
	{"an end anchor", "User-agent: *\nDisallow: /*.csv$", "-/a.csv +/a.csv?x +/a.csvx"},
	{"an anchored root", "User-agent: *\nDisallow: /$", "-/ +/a"},
	{"anchors allow too", "User-agent: *\nDisallow: /\nAllow: /$", "+/ -/a"},
	{"a dollar in the middle is a character", "User-agent: *\nDisallow: /a$b", "-/a$bc +/a"},
	{"an escaped wildcard is a character", "User-agent: *\nDisallow: /a%2Ab", "-/a*b -/a%2ab +/axb"},
	{"queries are part of the path", "User-agent: *\nDisallow: /a?x=1\nDisallow: /*?session=", "-/a?x=1 +/a -/b?session=2"},
	{"escapes of plain characters are equal to them", "User-agent: *\nDisallow: /%7Eu\nDisallow: /~v", "-/~u -/%7eu -/%7Ev"},
	{"bytes beyond ASCII are equal to their escapes", "User-agent: *\nDisallow: /é\nDisallow: /%C3%BC", "-/%C3%A9 -/%c3%a9x -/ü"},
	{"an escaped slash is not a slash", "User-agent: *\nDisallow: /a%2Fb", "-/a%2fb +/a/b"},
	{"hex digits of escapes have no case", "User-agent: *\nDisallow: /a%3cd", "-/a%3Cd -/a%3cd"},
	{"a byte order mark", "\ufeffUser-agent: *\nDisallow: /x", "-/x"},
	{"lines that end in CR", "User-agent: *\rDisallow: /x\rDisallow: /y\r", "-/x -/y"},
	{"lines that end in CR LF", "User-agent: *\r\nDisallow: /x\r\n\r\nDisallow: /y\r\n", "-/x -/y"},
	{"blank lines do not end a group", "User-agent: *\n\nDisallow: /x", "-/x"},
	{"a comment behind a rule", "User-agent: * # all\nDisallow: /x # not this\n", "-/x -/x%20"},
	{"space around everything", "  User-agent :  *  \n\tDisallow\t: /x\t\n", "-/x"},
	{"keys have no case", "USER-AGENT: *\nDISALLOW: /x\nALLOW: /x/y", "-/x +/x/y"},
	{"a missing colon", "User-agent *\nDisallow /x", "-/x"},
	{"a pattern without its slash", "User-agent: *\nDisallow: x", "-/x +/ax"},
	{"an HTML page allows everything", "<!DOCTYPE html><html><body>User-agent: nothing here</body></html>", "+/a"},
	{"invalid UTF-8 does no harm", "User-agent: *\nDisallow: /\xff\xfe\nDisallow: /x", "-/x -/%FF%FE +/a"},
	{"zero bytes do no harm", "User-agent: *\x00\nDisallow: /x\x00y\nDisallow: /z", "-/z +/a"},
	{"a URL as a pattern matches nothing of ours", "User-agent: *\nDisallow: http://example.com/x", "+/x"},
	{"of a rule longer than any path, the beginning counts", "User-agent: *\nDisallow: /" + strings.Repeat("a", 3000) + "\nDisallow: /x",
		"-/x +/aaa -/" + strings.Repeat("a", 3000)},
	{"a permission longer than any path is none", "User-agent: *\nDisallow: /\nAllow: /" + strings.Repeat("a", 3000),
		"-/" + strings.Repeat("a", 3000)},
	{"half a byte order mark", "\xef\xbbUser-agent: *\nDisallow: /x", "-/x"},
	{"a misspelt Disallow", "User-agent: *\nDisalow: /x\nDissallow: /y", "-/x -/y +/z"},
	{"a group begins anew after its rules",
		"allow: /foo/\n\nuser-agent: odarchive\ndisallow: /\nallow: /x/\nuser-agent: b\ndisallow: /\nallow: /y/\n\nallow: " +
			"/w/\nuser-agent: c\n\nuser-agent: odarchive\nallow: /z/\ndisallow: /\n", "+/x/b +/z/d -/y/c -/w/a -/foo/"},
	{"more words behind a name", "User-agent: *\nDisallow: /\nUser-agent: odarchive bar\nAllow: /x/\nDisallow: /", "+/x/y -/y"},
	{"the longer of a wildcard and a path", "User-agent: *\nAllow: /x/page.\nDisallow: /*.html", "+/x/page.html -/x/y.html"},
	{"a wildcard against a shorter permission", "User-agent: *\nAllow: /page\nDisallow: /*.html", "-/page.html +/page"},
	{"a comment in a pattern ends it", "User-agent: *\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /", "+/foo/bar -/foo/quz"},
	{"a permission with a wildcard", "User-agent: *\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux", "-/foo/bar/quz +/foo/quz +/foo/bar/qux"},
}

func TestRobotsByRFC9309(t *testing.T) {
	t.Parallel()
	for _, c := range robotsCases {
		r := ParseRobots([]byte(c.robots), "odarchive")
		for _, p := range strings.Fields(c.paths) {
			if got := r.Allowed(p[1:]); got != (p[0] == '+') {
				t.Errorf("%s: %s is allowed: %v", c.name, p[1:], got)
			}
		}
	}
}

func TestCrawlDelaysAndSitemaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		robots string
		delay  time.Duration
		maps   int
	}{
		{"User-agent: *\nCrawl-delay: 10\n", 10 * time.Second, 0},
		{"User-agent: *\nCrawl-delay: 0.5\nSitemap: https://e/a.xml\nsitemap: https://e/b.xml", 500 * time.Millisecond, 2},
		{"User-agent: *\nCrawl-delay: 1,5", 1500 * time.Millisecond, 0},
		{"User-agent: b\nCrawl-delay: 10\n", 0, 0},
		{"User-agent: *\nCrawl-delay: 10\nUser-agent: odarchive\nDisallow: /x", 0, 0},
		{"User-agent: odarchive\nCrawl-delay: 3\nDisallow: /x\nUser-agent: *\nCrawl-delay: 10", 3 * time.Second, 0},
		{"User-agent: *\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: x", 0, 0},
		{"User-agent: *\nCrawl-delay: 1e99", 30 * 24 * time.Hour, 0},
	} {
		r := ParseRobots([]byte(c.robots), "odarchive")
		if r.CrawlDelay != c.delay || len(r.Sitemaps) != c.maps {
			t.Errorf("%q: delay %v, %d sitemaps; want %v, %d", c.robots, r.CrawlDelay, len(r.Sitemaps), c.delay, c.maps)
		}
	}
}

func TestALargeFileIsReadTo500KiB(t *testing.T) {
	t.Parallel()
	line := "# " + strings.Repeat("x", 97) + "\n"
	early := ParseRobots([]byte("User-agent: *\n"+strings.Repeat(line, 500<<10/100-1)+"Disallow: /x\n"), "odarchive")
	if early.Allowed("/x") {
		t.Error("a rule at 500 KiB is not read")
	}
	cut := ParseRobots([]byte("User-agent: *\n"+strings.Repeat("#\n", (maxRobots-14)/2-5)+"Disallow: /public/secret\n"), "odarchive")
	if !cut.Allowed("/public/a") {
		t.Error("a rule cut in two forbids more than it said")
	}
}

func TestManyWildcardsStayCheapAndForbidden(t *testing.T) {
	t.Parallel()
	r := ParseRobots([]byte("User-agent: *\n"+strings.Repeat("Disallow: /*a*b*c*d\n", 20_000)+"Disallow: /x*y\n"), "odarchive")
	if r.Allowed("/1a2b3c4d") || r.Allowed("/xqy") {
		t.Error("rules beyond the limit are forgotten")
	}
}

func FuzzRobots(f *testing.F) {
	for _, c := range robotsCases {
		f.Add([]byte(c.robots), "/a")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		r := ParseRobots(text, "odarchive")
		r.Allowed(path)
		if !r.Allowed("/robots.txt") {
			t.Fatal("robots.txt is forbidden")
		}
		if r.CrawlDelay < 0 {
			t.Fatal("a negative delay")
		}
	})
}
