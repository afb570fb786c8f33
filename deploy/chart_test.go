package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what the test looks at of an object of Kubernetes.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Replicas int
		Template struct {
			Spec struct {
				SecurityContext struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []struct {
					Image           string
					Args            []string
					ReadinessProbe  map[string]any `yaml:"readinessProbe"`
					LivenessProbe   map[string]any `yaml:"livenessProbe"`
					SecurityContext struct {
						ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
					} `yaml:"securityContext"`
				}
			}
		}
	}
}

// TestChart_RendersBothRoles lints the chart and looks at what it makes of its values. It runs for "make deploy-check"
// alone, which names the folder of the programs that it needs.
func TestChart_RendersBothRoles(t *testing.T) {
	t.Parallel()
	tools := os.Getenv("ALIQUOT_TEST_DEPLOY")
	if tools == "" {
		return
	}
	helm := filepath.Join(tools, "helm")
	run(t, ".", nil, helm, "lint", "--strict", "helm/aliquot")
	kinds, settings := map[string]int{}, read(t, "../docs/settings.md")
	rendered := run(t, ".", nil, helm, "template", "test", "helm/aliquot", "--set", "web.replicas=3,image.tag=1.2.3")
	for text := range strings.SplitSeq(rendered, "\n---") {
		var m manifest
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		kinds[m.Kind]++
		for variable := range m.Data {
			if !strings.Contains(settings, "| `"+variable+"` |") {
				t.Errorf("there is no setting %s", variable)
			}
		}
		role := map[string]string{"Deployment": "web", "StatefulSet": "worker"}[m.Kind]
		if role == "" {
			continue
		}
		pod := m.Spec.Template.Spec
		if len(pod.Containers) != 1 {
			t.Fatalf("%s has %d containers", m.Metadata.Name, len(pod.Containers))
		}
		c := pod.Containers[0]
		if got := strings.Join(c.Args, " "); got != "serve --role "+role || c.Image != "aliquot:1.2.3" {
			t.Errorf("%s runs %s %s", m.Metadata.Name, c.Image, got)
		}
		if c.ReadinessProbe == nil || c.LivenessProbe == nil {
			t.Errorf("%s is not probed", m.Metadata.Name)
		}
		if !pod.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s may run as root, or change its image", m.Metadata.Name)
		}
		if role == "web" && m.Spec.Replicas != 3 {
			t.Errorf("%s has %d replicas, want 3", m.Metadata.Name, m.Spec.Replicas)
		}
	}
	for _, kind := range []string{"ConfigMap", "Deployment", "StatefulSet", "Ingress", "PodDisruptionBudget"} {
		if kinds[kind] != 1 {
			t.Errorf("the chart makes %d of the kind %s", kinds[kind], kind)
		}
	}
}
