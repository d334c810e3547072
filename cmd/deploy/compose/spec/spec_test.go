// Package spec loads the compose file as docker compose does, by its schema: a key that compose does not know is a
// fault.
package spec

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func load(t *testing.T, file string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{file},
		cli.WithEnv([]string{"ODARCHIVE_TAG=1.2.3", "ODARCHIVE_NATS_TOKEN=token", "ODARCHIVE_TOKEN=token"}), cli.WithName("odarchive"))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

func TestComposeKnowsEverythingInTheFile(t *testing.T) {
	p, err := load(t, "../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if names := p.ServiceNames(); !slices.Equal(names, []string{"objects", "replica", "worker", "writer"}) {
		t.Fatalf("services %q", names)
	}
	if d := p.Services["worker"].Deploy; d == nil || d.Replicas == nil || *d.Replicas != 2 {
		t.Errorf("workers: %+v", d)
	}
	for name, s := range p.Services {
		if name == "objects" {
			continue
		}
		if s.Image != "odarchive:1.2.3" || !s.ReadOnly || s.User != "65532:65532" || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s: %+v", name, s)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s is reached from other machines at port %s", name, port.Published)
			}
		}
	}
}

func TestAKeyThatComposeDoesNotKnowIsAFault(t *testing.T) {
	text, err := os.ReadFile("../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := t.TempDir() + "/compose.yaml"
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), "depends_on: [objects]", "depend_on: [objects]", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, name); err == nil || !strings.Contains(err.Error(), "depend_on") {
		t.Errorf("%v", err)
	}
}
