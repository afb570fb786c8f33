package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDeploy_NamesSettingsThatExist looks at the guide and at every example.
func TestDeploy_NamesSettingsThatExist(t *testing.T) {
	t.Parallel()
	settings := read(t, "../docs/settings.md")
	for _, name := range []string{"../docs/deploy.md", "../Dockerfile", "systemd/aliquot.env", "compose/compose.yaml"} {
		for _, variable := range regexp.MustCompile(`ALIQUOT_[A-Z_]+[A-Z]`).FindAllString(read(t, name), -1) {
			if !strings.Contains(settings, "| `"+strings.TrimSuffix(variable, "_FILE")+"` |") {
				t.Errorf("%s: there is no setting %s", name, variable)
			}
		}
	}
}

// TestCompose_HoldsTogether: its names lead to services, volumes and variables that it has, and each role has a process.
func TestCompose_HoldsTogether(t *testing.T) {
	t.Parallel()
	text, variables := read(t, "compose/compose.yaml"), read(t, "compose/example.env")
	for _, found := range regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(variables, "\n"+found[1]+"=") {
			t.Errorf("example.env does not have %s", found[1])
		}
	}
	var file struct {
		Services map[string]struct {
			Environment map[string]string
			DependsOn   map[string]any `yaml:"depends_on"`
			Volumes     []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for name, service := range file.Services {
		if role := service.Environment["ALIQUOT_ROLE"]; role != "" {
			roles = append(roles, role)
		}
		for other := range service.DependsOn {
			if _, ok := file.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is no service", name, other)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, ok := file.Volumes[source]; ok {
				continue
			}
			if _, err := os.Stat(filepath.Join("compose", source)); err != nil {
				t.Errorf("%s uses %s, which is neither a volume nor a file", name, source)
			}
		}
	}
	slices.Sort(roles)
	if want := []string{"web", "web", "worker"}; !slices.Equal(roles, want) {
		t.Errorf("the roles are %v, want %v", roles, want)
	}
	processes := strings.Fields(file.Services["proxy"].Environment["PROCESSES"])
	if len(processes) != 2 {
		t.Errorf("the proxy knows %v", processes)
	}
	for _, address := range processes {
		name, _, _ := strings.Cut(address, ":")
		if file.Services[name].Environment["ALIQUOT_ROLE"] != "web" {
			t.Errorf("the proxy passes requests to %s", address)
		}
	}
}
