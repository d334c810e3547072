// Package objects decodes every object that the chart renders, strictly: a field that Kubernetes does not know is a
// fault.
package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The objects of the Prometheus operator, as far as the chart uses them.
type (
	podMonitor struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.ObjectMeta `json:"metadata"`
		Spec          struct {
			Selector            meta.LabelSelector `json:"selector"`
			PodMetricsEndpoints []struct {
				Port        string `json:"port"`
				Path        string `json:"path"`
				Interval    string `json:"interval"`
				Relabelings []struct {
					SourceLabels []string `json:"sourceLabels"`
					TargetLabel  string   `json:"targetLabel"`
				} `json:"relabelings"`
			} `json:"podMetricsEndpoints"`
		} `json:"spec"`
	}
	prometheusRule struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.ObjectMeta `json:"metadata"`
		Spec          struct {
			Groups []struct {
				Name  string `json:"name"`
				Rules []struct {
					Alert       string            `json:"alert"`
					Expr        string            `json:"expr"`
					For         string            `json:"for"`
					Labels      map[string]string `json:"labels"`
					Annotations map[string]string `json:"annotations"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
)

// kinds returns an empty object of each kind that the chart may render.
func kinds() map[string]any {
	return map[string]any{
		"v1/ServiceAccount": &core.ServiceAccount{}, "v1/ConfigMap": &core.ConfigMap{}, "v1/Secret": &core.Secret{},
		"v1/Service":          &core.Service{},
		"apps/v1/StatefulSet": &apps.StatefulSet{}, "apps/v1/Deployment": &apps.Deployment{},
		"autoscaling/v2/HorizontalPodAutoscaler": &autoscaling.HorizontalPodAutoscaler{},
		"networking.k8s.io/v1/Ingress":           &networking.Ingress{}, "networking.k8s.io/v1/NetworkPolicy": &networking.NetworkPolicy{},
		"policy/v1/PodDisruptionBudget":       &policy.PodDisruptionBudget{},
		"monitoring.coreos.com/v1/PodMonitor": &podMonitor{}, "monitoring.coreos.com/v1/PrometheusRule": &prometheusRule{},
	}
}

// decode decodes the objects of a file.
func decode(text []byte) (objects []any, err error) {
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var head meta.TypeMeta
		if err := yaml.Unmarshal(doc, &head); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, doc)
		}
		if head.Kind == "" {
			continue
		}
		object := kinds()[head.APIVersion+"/"+head.Kind]
		if object == nil {
			return nil, fmt.Errorf("%s/%s is not known here", head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict(doc, object); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, doc)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func TestEveryObjectIsWhatKubernetesKnows(t *testing.T) {
	files, err := filepath.Glob("../golden/*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		count := map[string]int{}
		for _, o := range objects {
			count[reflect.TypeOf(o).Elem().Name()]++
			switch o := o.(type) {
			case *apps.StatefulSet:
				restricted(t, name, o.Spec.Template)
				selects(t, name, o.Spec.Selector, o.Spec.Template)
			case *apps.Deployment:
				restricted(t, name, o.Spec.Template)
				selects(t, name, o.Spec.Selector, o.Spec.Template)
			}
		}
		want := map[string]int{"StatefulSet": 1, "Deployment": 0, "NetworkPolicy": 1, "PodDisruptionBudget": 1}
		switch {
		case strings.Contains(name, "cluster"):
			want = map[string]int{"StatefulSet": 2, "Deployment": 1, "HorizontalPodAutoscaler": 1, "NetworkPolicy": 3,
				"PodDisruptionBudget": 3, "Ingress": 1, "podMonitor": 1, "prometheusRule": 1, "Secret": 2}
		case strings.Contains(name, "minimal"):
			want = map[string]int{"StatefulSet": 1, "NetworkPolicy": 0, "PodDisruptionBudget": 0}
		}
		for kind, n := range want {
			if count[kind] != n {
				t.Errorf("%s has %d of %s, want %d", name, count[kind], kind, n)
			}
		}
	}
}

// restricted checks a pod against the standard "restricted" of Kubernetes, and that it has probes and resources.
func restricted(t *testing.T, file string, pod core.PodTemplateSpec) {
	t.Helper()
	p := pod.Spec.SecurityContext
	if p == nil || p.RunAsNonRoot == nil || !*p.RunAsNonRoot || p.SeccompProfile == nil ||
		p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s: the pod's securityContext is %+v", file, p)
	}
	if pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("%s: the pod has a token for Kubernetes", file)
	}
	mounted := map[string]bool{}
	for _, c := range pod.Spec.Containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil ||
			!*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: the container's securityContext is %+v", file, s)
		}
		if c.LivenessProbe == nil || c.ReadinessProbe == nil || c.Resources.Requests == nil || c.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: %s lacks a probe or resources", file, c.Name)
		}
		for _, m := range c.VolumeMounts {
			mounted[m.Name] = true
		}
	}
	if !mounted["tmp"] {
		t.Errorf("%s: nothing can be written in /tmp", file)
	}
}

// selects checks that a workload selects its own pods.
func selects(t *testing.T, file string, s *meta.LabelSelector, pod core.PodTemplateSpec) {
	t.Helper()
	selector, err := meta.LabelSelectorAsMap(s)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range selector {
		if pod.Labels[k] != v {
			t.Errorf("%s: the pods have %s=%q, and %q is selected", file, k, pod.Labels[k], v)
		}
	}
}

func TestAMisspeltFieldIsAFault(t *testing.T) {
	_, err := decode([]byte("apiVersion: apps/v1\nkind: Deployment\nspec:\n  replica: 2\n"))
	if err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("%v", err)
	}
	if _, err := decode([]byte("apiVersion: apps/v9\nkind: Deployment\n")); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}
