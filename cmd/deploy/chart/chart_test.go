package chart

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"odarchive/ui/docs"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite the golden files with helm")

// helm returns helm's path: that of $HELM, or the one that is installed.
func helm(t *testing.T) string {
	t.Helper()
	name := os.Getenv("HELM")
	if name == "" {
		name = "helm"
	}
	found, err := exec.LookPath(name)
	if err != nil {
		t.Skip("helm is neither installed nor named by HELM ('make test-chart' builds it)")
	}
	return found
}

// render renders the chart with a file of values.
func render(t *testing.T, values string, more ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), helm(t),
		append([]string{"template", "archive", "odarchive", "--namespace", "archive", "-f", values}, more...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Log(stderr.String())
	}
	return out, err
}

func examples(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("odarchive/examples/*.yaml")
	if err != nil || len(names) != 3 {
		t.Fatalf("examples %q, %v", names, err)
	}
	return names
}

func TestTheChartRendersAsTheGoldenFilesSay(t *testing.T) {
	for _, values := range examples(t) {
		got, err := render(t, values)
		if err != nil {
			t.Fatalf("%s: %v", values, err)
		}
		golden := filepath.Join("golden", filepath.Base(values))
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what helm makes of %s (%v); -update rewrites it", golden, values, err)
		}
	}
}

func TestValuesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, set := range []string{"replica=2", "writer.replicas=2", "base=archive.example.org", "workers.replicas=-1",
		"nats.url=http://nats", "networkPolicy.allowEgress={10.0.0.1}"} {
		if _, err := render(t, "odarchive/examples/default.yaml", "--set", set); err == nil {
			t.Errorf("--set %s is taken", set)
		}
	}
}

func TestASecretIsMadeWhereNoneIsNamed(t *testing.T) {
	out, err := render(t, "odarchive/examples/default.yaml", "--set", "workers.replicas=1")
	if err != nil || !regexp.MustCompile(`\n  token: [A-Za-z0-9+/=]{50,}\n`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = render(t, "odarchive/examples/default.yaml", "--set", "workers.replicas=1,nats.existingSecret=mine")
	if err != nil || bytes.Contains(out, []byte("kind: Secret")) || !bytes.Contains(out, []byte("secretName: mine")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// The values of the chart with a NATS cluster are values of the chart.
func TestTheChartWithNATSHasValuesOfTheChart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("with-nats/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	ours, err := yaml.Marshal(all["odarchive"])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(name, ours, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := render(t, name)
	if err != nil || !bytes.Contains(out, []byte("--join=nats://archive-nats:4222")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// module tests a module below this directory, where its dependencies have been downloaded.
func module(t *testing.T, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a library of others")
	}
	build := exec.CommandContext(t.Context(), "go", "-C", dir, "vet", "./...")
	// as in cmd/deploy/release, to share the build cache
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -trimpath")
	if out, err := build.CombinedOutput(); err != nil &&
		(bytes.Contains(out, []byte("module lookup disabled")) || bytes.Contains(out, []byte("dial tcp"))) {
		t.Skipf("what it needs is not here ('go -C %s mod download' fetches it): %v\n%s", path.Join("cmd/deploy/chart", dir), err, out)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "go", "-C", dir, "test", "-vet=off", "./...") // vetted above
	cmd.Env = build.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEveryRenderedObjectIsWhatKubernetesKnows(t *testing.T) {
	t.Parallel()
	module(t, "objects")
}

func TestEveryExpressionIsOneOfPrometheus(t *testing.T) {
	t.Parallel()
	module(t, "rules")
}

func TestComposeKnowsEverythingInItsFile(t *testing.T) {
	t.Parallel()
	module(t, "../compose/spec")
}

// rule is an alert.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	text, err := os.ReadFile("odarchive/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func TestEveryAlertLeadsToASectionThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	page := library.Page("howto/alerts")
	if page == nil {
		t.Fatal("there is no page howto/alerts")
	}
	sections := map[string]bool{}
	for _, s := range page.Sections {
		sections[s.ID] = false
	}
	seen := map[string]bool{}
	for _, r := range rules(t) {
		section, ok := strings.CutPrefix(r.Annotations["runbook_url"], "http://localhost:8080/docs/howto/alerts#")
		if _, known := sections[section]; !ok || !known {
			t.Errorf("%s leads to %s", r.Alert, r.Annotations["runbook_url"])
		}
		sections[section] = true
		if seen[r.Alert] || r.Annotations["summary"] == "" || r.Expr == "" ||
			!strings.Contains("critical warning info", r.Labels["severity"]) || r.Labels["severity"] == "" {
			t.Errorf("%+v", r)
		}
		seen[r.Alert] = true
		if !strings.Contains(page.Source, "`"+r.Alert+"`") {
			t.Errorf("the page does not name %s", r.Alert)
		}
	}
	for _, s := range page.Sections {
		if s.Level == 2 && !sections[s.ID] {
			t.Errorf("no alert leads to %s", s.ID)
		}
	}
}

// A dashboard that Grafana would show with holes: panels that lie over one another, ids or addresses that occur twice.
func TestDashboardsAreLaidOut(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("odarchive/files/dashboards/*.json")
	if err != nil || len(names) < 5 {
		t.Fatalf("dashboards %q, %v", names, err)
	}
	uids := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			UID, Title    string
			SchemaVersion int
			Panels        []struct {
				ID          int
				Title, Type string
				GridPos     struct{ X, Y, W, H int }
				Targets     []struct{ Expr, RefID string }
				Datasource  struct{ UID string }
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.UID == "" || uids[d.UID] || len(d.UID) > 40 || d.Title == "" || d.SchemaVersion < 36 {
			t.Errorf("%s: uid %q, title %q, schema %d", name, d.UID, d.Title, d.SchemaVersion)
		}
		uids[d.UID] = true
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s: %+v", name, p)
			}
			ids[p.ID] = true
			refs := map[string]bool{}
			for _, target := range p.Targets {
				if refs[target.RefID] || !strings.Contains(target.Expr, "$instance") {
					t.Errorf("%s: %s: %+v", name, p.Title, target)
				}
				refs[target.RefID] = true
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if other, ok := taken[at]; ok {
						t.Fatalf("%s: %s lies over %s", name, p.Title, other)
					}
					taken[at] = p.Title
				}
			}
		}
	}
}
