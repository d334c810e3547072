package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"odarchive/cmd/internal/faces"
)

// way is one way to reach an archive: its directory, the socket of the server that holds it, or the server's address.
type way struct {
	name string
	args []string // what every command line gets
}

// ways returns the same archive three times: alone, held by a server, and behind an address.
func ways(t *testing.T, settings string) (all []way, file string) {
	t.Helper()
	dir := t.TempDir()
	alone, held, far := filepath.Join(dir, "alone"), filepath.Join(dir, "held"), filepath.Join(dir, "far")
	file = archived(t, alone)
	for _, data := range []string{held, far} {
		if err := os.CopyFS(data, os.DirFS(alone)); err != nil {
			t.Fatal(err)
		}
	}
	serve := []string{"serve", "--no-crawl", "--listen", "127.0.0.1:0", "--base", "http://localhost:8080/", "--log-level", "error",
		"--config", settings, "--data"}
	start(t, append(serve, held))
	address := start(t, append(serve, far, "--token", "secret"))
	return []way{
		{"alone", []string{"--data", alone, "--config", settings}},
		{"beside", []string{"--data", held, "--config", settings}},
		{"endpoint", []string{"--data", filepath.Join(dir, "nowhere"), "--config", settings, "--endpoint", address, "--token", "secret"}},
	}, file
}

// spoken is what a command did.
type spoken struct {
	status           int
	out, errs, wrote string
}

// masks are what differs from run to run.
var masks = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`(took|Took"?:)\s+[\d.]+(ns|µs|ms|s)?`), "$1 DURATION"},
	{regexp.MustCompile(`"(ID|Time|Log|Lineage|SHA256|Length)":\s*("[^"]*"|\d+)`), "$1"},
	{regexp.MustCompile(`harvest-([0-9a-f]+)-\d+`), "harvest-$1"},
	{regexp.MustCompile(`\d+ (bytes|after)`), "BYTES"}, // of packs and logs, which depend on what was written together
	{regexp.MustCompile(`"(bytes|storedBytes)": \d+`), "$1"},
	{regexp.MustCompile(`[\d.]+ [KM]iB`), "SIZE"},
}

func masked(text string) string {
	for _, m := range masks {
		text = m.re.ReplaceAllString(text, m.by)
	}
	return text
}

// Every command that reads or orders has the same output and exit status with the directory alone, beside the server
// that holds it, and by the server's address. The commands change three copies of one archive in the same way.
func TestCommandsDoTheSameAloneBesideAServerAndByItsAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(file string) string { return filepath.Join(dir, file) }
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/data.json" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w,
			`{"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [{"identifier": "one", "title": "One", `+
				`"distribution": [{"downloadURL": "http://%s/one.csv", "format": "CSV"}]}]}`, r.Host)
	}))
	defer portal.Close()
	for file, text := range map[string]string{
		"settings.toml": "allow-private-hosts = true\nhost-delay = \"0s\"\nlog-level = \"warn\"\n",
		"good.ttl":      "@prefix x: <http://x.example/> .\n<#me> x:p 2 ; x:q \"words of a literal\" .\n_:b x:r x:s .\n",
		"bad.ttl":       "@prefix x: <http://x.example/> .\n<#me> x:p 3 .\nx:b x:c oops\n",
		"some.nq": "<http://x.example/s> <http://x.example/p> \"1\" <http://x.example/g> .\nnonsense\n<http://x.example/s> " +
			"<http://x.example/p> \"2\" <http://x.example/g> .\n",
		"query.rq":    "SELECT * { ?s <http://x.example/p> ?o } ORDER BY ?o",
		"list.txt":    "http://more.example/1.csv\nnonsense\nhttp://more.example/1.csv\n",
		"empty.ttl":   "",
		"files.paths": "some.warc\n",
		"some.warc":   captureOf("http://old.example/a.csv", "", "id,name\n1,old\n"),
		"portals.txt": portal.URL + "/data.json\n",
	} {
		if err := os.WriteFile(name(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, file := ways(t, name("settings.toml"))
	const every = "SELECT ?v { ?f <http://purl.org/dc/terms/hasVersion> ?v } ORDER BY ?v"
	for _, line := range []struct {
		args  []string
		stdin string
	}{
		{args: []string{"get", file}}, {args: []string{"get", file, "--version", "0", "-o", name("out")}},
		{args: []string{"get", file, "--version", "7", "-o", name("out")}}, {args: []string{"get", file, "--at", "2026-12-01T00:00:00Z"}},
		{args: []string{"get", file, "--at", "2020-12-01T00:00:00Z"}}, {args: []string{"get", file, "--at", "yesterday"}},
		{args: []string{"get", "http://nowhere.example/"}}, {args: []string{"get"}},
		{args: []string{"get", file, "-o", name("no/such/folder")}},
		{args: []string{"diff", file}}, {args: []string{"diff", file, "--json", "--key", "tree_id,species"}},
		{args: []string{"diff", file, "--from", "1"}},
		{args: []string{"diff", file, "--key", "no such column"}}, {args: []string{"diff", "http://nowhere.example/"}},
		{args: []string{"schedule", file}}, {args: []string{"schedule", file, "--json"}},
		{args: []string{"schedule", "http://nowhere.example/"}},
		{args: []string{"stats"}}, {args: []string{"stats", "--json"}}, {args: []string{"check"}},
		{args: []string{"quality"}}, {args: []string{"quality", "http://nowhere.example/", "--json"}},
		{args: []string{"load", name("good.ttl")}}, {args: []string{"load", name("good.ttl"), "--json"}},
		{args: []string{"load", name("bad.ttl")}}, {args: []string{"load", name("some.nq"), name("no-such-file.nt")}},
		{args: []string{"load", name("some.nq"), "--skip-bad"}},
		{args: []string{"load", name("empty.ttl")}},
		{args: []string{"load", "-", "--format", "nt", "--graph", "http://x.example/h"},
			stdin: "<http://x.example/s> <http://x.example/p> \"4\" .\n"},
		{args: []string{"load", "-"}, stdin: "what is this"}, {args: []string{"load", name("good.ttl"), "--format", "docx"}},
		{args: []string{"load"}},
		{args: []string{"load", name("good.ttl"), "--document-base", "http://x.example/base"}},
		{args: []string{"update", "INSERT DATA { <http://x.example/u> <http://x.example/p> 5 }"}},
		{args: []string{"update", "--json", "DELETE DATA { <http://x.example/u> <http://x.example/p> 5 }"}},
		{args: []string{"update", "INSERT DATA {"}}, {args: []string{"update"}},
		{args: []string{"update", "-"}, stdin: "INSERT DATA { <http://x.example/v> <http://x.example/p> 6 }"},
		{args: []string{"dump", "--graph", "http://x.example/g", "--format", "ttl"}},
		{args: []string{"dump", "--graph", "http://nowhere.example/"}},
		{args: []string{"dump", "--format", "docx"}}, {args: []string{"dump", "--format", "hdt", "--graph", "http://x.example/h"}},
		{args: []string{"zip", every, "-o", name("out")}}, {args: []string{"zip", "-", "-o", "-"}, stdin: every},
		{args: []string{"zip", every}},
		{args: []string{"zip", "SELECT", "-o", name("out")}},
		{args: []string{"zip", "SELECT ?v { ?v <http://x.example/none> ?w }", "-o", name("out")}},
		{args: []string{"warc", "export", "-o", name("out.warc.gz")}}, {args: []string{"warc", "export", "-o", name("out.wacz")}},
		{args: []string{"warc", "export", "-o", name("out.txt")}},
		{args: []string{"harvest", "datajson", portal.URL + "/data.json"}},
		{args: []string{"harvest", "datajson", portal.URL + "/data.json", "--json", "--fresh"}},
		{args: []string{"harvest", "nonsense", portal.URL}},
		{args: []string{"harvest", "datajson", "--list", name("portals.txt"), "--json"}},
		{args: []string{"harvest", "datajson", "--list", name("none.txt")}},
		{args: []string{"add", "http://more.example/0.csv", "--title", "Zero"}}, {args: []string{"add", "--file", name("list.txt")}},
		{args: []string{"add", "--file", name("list.txt"), "--strict"}},
		{args: []string{"add", "nonsense"}}, {args: []string{"add", "--file", "-", "--json"}, stdin: "http://more.example/2.csv\n"},
		{args: []string{"inject", "http://more.example/3.csv"}}, {args: []string{"requeue", "more.example"}},
		{args: []string{"requeue", "nowhere.example"}},
		{args: []string{"boost", "more.example", "--score", "3"}},
		{args: []string{"drop", "http://more.example/3.csv", "--why", "enough", "--json"}}, {args: []string{"drop", "--pattern", "("}},
		{args: []string{"requeue", "--pattern", "csv$", "--dry-run"}}, {args: []string{"requeue", "--file", name("list.txt")}},
		{args: []string{"pause", "--why", "a test"}}, {args: []string{"resume"}}, {args: []string{"pause", "more.example"}},
		{args: []string{"resume", "more.example", "--json"}},
		{args: []string{"orders"}}, {args: []string{"orders", "--json", "--limit", "3"}}, {args: []string{"orders", "--limit", "0"}},
		{args: []string{"scope", "deny", "host:denied.example", "--why", "a test"}},
		{args: []string{"scope", "test", "http://denied.example/a"}}, {args: []string{"scope", "list"}},
		{args: []string{"scope", "deny", "nonsense:x"}}, {args: []string{"scope", "remove", "host:denied.example"}},
		{args: []string{"host", "set", "slow.example", "delay=5s"}}, {args: []string{"host", "list"}},
		{args: []string{"host", "show", "slow.example"}}, {args: []string{"host", "set", "slow.example", "delay=never"}},
		{args: []string{"host", "unset", "slow.example"}},
		{args: []string{"campaign", "list"}}, {args: []string{"campaign", "show", "none"}}, {args: []string{"campaign", "pause", "none"}},
		{args: []string{"warc", "import", name("some.warc")}}, {args: []string{"warc", "import", name("some.warc"), "--records"}},
		{args: []string{"warc", "import", name("some.warc"), "--dry-run", "--json"}},
		{args: []string{"warc", "import", name("bad.ttl")}}, {args: []string{"warc", "import", name("none.warc")}},
		{args: []string{"warc", "import", name("files.paths")}},
		{args: []string{"warc", "import", name("some.warc"), "--offset", "0", "--length", "400"}},
		{args: []string{"get", "http://old.example/a.csv"}},
		{args: []string{"discover", portal.URL + "/", "--budget", "5", "--dry-run"}}, {args: []string{"discover", "nonsense"}},
		{args: []string{"compact"}},
		{args: []string{"schedule", file, "--schedule", "paper"}}, {args: []string{"schedule", file, "--schedule", "nonsense"}},
		{args: []string{"follow", "x"}},
		{args: []string{"harvest", "list"}}, {args: []string{"harvest", "list", "--json"}},
		{args: []string{"harvest", "run", "http://nowhere.example/"}},
		{args: []string{"harvest", "pause", "http://nowhere.example/", "--why", "a test"}},
		{args: []string{"harvest", "resume", "http://nowhere.example/"}}, {args: []string{"harvest", "remove"}},
		{args: []string{"harvest", "questions"}}, {args: []string{"harvest", "keep", "http://nowhere.example/"}},
		{args: []string{"backup", "-o", name("out")}}, {args: []string{"backup"}},
		{args: []string{"dump"}}, {args: []string{"stats", "--json"}}, {args: []string{"check"}},
	} {
		t.Run(strings.Join(line.args, " "), func(t *testing.T) {
			var first spoken
			for i, w := range all {
				got := sayBy(t, w, line.args, line.stdin, name)
				if i == 0 {
					first = got
				} else if got != first {
					t.Errorf("%s: %d\n%s\n%s\n%.2000q\nalone: %d\n%s\n%s\n%.2000q", w.name, got.status, got.out, got.errs, got.wrote,
						first.status, first.out, first.errs, first.wrote)
				}
			}
		})
	}
}

// sayBy runs a command line one way, and returns what it said and wrote.
func sayBy(t *testing.T, w way, args []string, stdin string, name func(string) string) (s spoken) {
	t.Helper()
	var out, errs bytes.Buffer
	s.status = run(t.Context(), append(append([]string(nil), args...), w.args...), strings.NewReader(stdin), &out, &errs)
	s.out, s.errs = masked(out.String()), masked(errs.String())
	if args[0] == "dump" {
		s.out = statementsOf(out.String())
	}
	for _, file := range []string{"out", "out.warc.gz", "out.wacz"} {
		raw, err := os.ReadFile(name(file))
		if err == nil {
			if args[0] != "backup" {
				s.wrote = string(raw)
			}
			err = os.Remove(name(file))
		}
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(name("*.part")); left != nil {
		t.Errorf("%s leaves %v", w.name, left)
	}
	return s
}

// statementsOf returns the statements of a dump that tell no times and have no names that are made at random.
func statementsOf(dump string) string {
	var kept []string
	for _, line := range strings.SplitAfter(dump, "\n") {
		if !strings.Contains(line, "XMLSchema#dateTime") && !strings.Contains(line, "/activity/") && !strings.Contains(line, "_:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// Harvests are planned and ordered beside the server that runs them: nothing else could make one due while it runs.
func TestHarvestsArePlannedBesideTheServer(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, _ := ways(t, settings)
	const source = "http://127.0.0.1:9/data.json" // which the server may not ask
	for _, w := range all {
		for _, c := range []struct {
			args []string
			says string
		}{
			{[]string{"harvest", "datajson", source, "--every", "24h"}, "is harvested every"},
			{[]string{"harvest", "pause", source, "--why", "a test"}, "is paused"},
			{[]string{"harvest", "list"}, source},
			{[]string{"harvest", "resume", source}, "is planned again"},
			{[]string{"harvest", "run", source}, "is due"},
			{[]string{"harvest", "remove", source}, "is no longer planned"},
			{[]string{"harvest", "list"}, "no harvest is planned"},
		} {
			var out, errs bytes.Buffer
			status := run(t.Context(), append(append([]string(nil), c.args...), w.args...), strings.NewReader(""), &out, &errs)
			if status != 0 || !strings.Contains(out.String(), c.says) {
				t.Errorf("%s: %v: %d, %q, %q; want 0 and %q", w.name, c.args, status, out.String(), errs.String(), c.says)
			}
		}
	}
}

// Queries and dumps over the wire of commands need a token: without one, a query has the limits of the SPARQL endpoint.
func TestCommandsWithoutLimitsNeedAToken(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, file := ways(t, settings)
	far := all[2]
	anybody := way{far.name, far.args[:len(far.args)-2]}
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"get", file}, 0}, {[]string{"schedule", file}, 0}, {[]string{"dump"}, 1}, {[]string{"quality"}, 1},
		{[]string{"compact"}, 1}, {[]string{"check"}, 1}, {[]string{"stats"}, 0}, {[]string{"orders"}, 0},
		{[]string{"campaign", "list"}, 0},
		{[]string{"scope", "list"}, 0}, {[]string{"scope", "deny", "host:x.example"}, 1}, {[]string{"host", "list"}, 1},
		{[]string{"add", "http://x.example/"}, 1}, {[]string{"drop", "x.example"}, 1}, {[]string{"pause"}, 1},
		{[]string{"update", "DROP ALL"}, 1}, {[]string{"campaign", "stop", "x"}, 1}, {[]string{"token", "list"}, 1},
		{[]string{"audit"}, 1}, {[]string{"log", "sign"}, 1}, {[]string{"backup", "-o", filepath.Join(t.TempDir(), "b")}, 1},
		{[]string{"load", settings}, 1}, {[]string{"harvest", "ckan", "http://x.example/"}, 1},
		{[]string{"discover", "http://x.example/"}, 1}, {[]string{"warc", "import", settings}, 1},
	} {
		if got := sayBy(t, anybody, c.args, "",
			func(file string) string { return filepath.Join(t.TempDir(), file) }); got.status != c.status || c.status != 0 &&
			!strings.Contains(got.errs, "oken") {
			t.Errorf("%v without a token: %+v", c.args, got)
		}
	}
	address := far.args[len(far.args)-3]
	resp, err := http.Post(address+"/api/v1/commands/query", "application/octet-stream",
		strings.NewReader(`{"id":"0123456789012345678901","arguments":["SELECT * { ?s ?p ?o }"]}`+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a query without a token: %s", resp.Status)
	}

	// Even with the token, a server does not write or ask where a client says, as the command does without a server.
	into := filepath.Join(t.TempDir(), "rescued")
	for name, flags := range map[string]string{"check": `"packs-only":["true"],"output":["` + into + `"]`,
		"backup": `"verify":["http://127.0.0.1:1/"]`, "cite": `"all":["true"],"dir":["` + into + `"]`} {
		remote := faces.NewRemote(address, "secret")
		var order faces.CommandOrder
		if err := json.Unmarshal([]byte(`{"flags":{`+flags+`}}`), &order); err != nil {
			t.Fatal(err)
		}
		result, err := remote.RunCommand(t.Context(), name, order, faces.Terminal{Stdout: io.Discard, Stderr: io.Discard})
		if err != nil || result.Status != 2 {
			t.Errorf("%s with %s: %+v, %v; want wrong usage", name, flags, result, err)
		}
	}
	if _, err := os.Stat(into); err == nil {
		t.Error("the server has written where a client says")
	}
}
