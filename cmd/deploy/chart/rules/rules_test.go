// Package rules parses every expression of the alerts and dashboards as Prometheus does.
package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const files = "../odarchive/files"

func parse(t *testing.T, where, expr string) {
	t.Helper()
	expr = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m").Replace(expr)
	if _, err := parser.NewParser(parser.Options{}).ParseExpr(expr); err != nil {
		t.Errorf("%s: %s\n%v", where, expr, err)
	}
}

func TestEveryAlertIsAnExpression(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(files, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalStrict(text, &rules); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			n++
			parse(t, r.Alert, r.Expr)
		}
	}
	if n < 20 {
		t.Errorf("%d alerts", n)
	}
}

func TestEveryPanelAsksWithAnExpression(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(files, "dashboards", "*.json"))
	if err != nil || len(names) < 5 {
		t.Fatalf("dashboards %q, %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				parse(t, filepath.Base(name)+": "+p.Title, strings.NewReplacer(`$instance`, `.*`).Replace(target.Expr))
			}
		}
	}
}
