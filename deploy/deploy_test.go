package deploy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
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
	for _, name := range []string{"../docs/deploy.md", "nginx/aliquot.conf", "caddy/Caddyfile"} {
		for _, variable := range regexp.MustCompile(`ALIQUOT_[A-Z_]+[A-Z]`).FindAllString(read(t, name), -1) {
			if !strings.Contains(settings, "| `"+strings.TrimSuffix(variable, "_FILE")+"` |") {
				t.Errorf("%s: there is no setting %s", name, variable)
			}
		}
	}
}
