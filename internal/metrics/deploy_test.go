package metrics_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/store/storetest"

	dto "github.com/prometheus/client_model/go"
)

const deploy = "../../deploy/"

// named finds the names of metrics in expressions.
var named = regexp.MustCompile(`\b(?:aliquot|process|go)_[a-z0-9_]+`)

// names are those of the series of a family.
func names(f *dto.MetricFamily) []string {
	name := f.GetName()
	if f.GetType() == dto.MetricType_HISTOGRAM {
		return []string{name + "_bucket", name + "_count", name + "_sum"}
	}
	return []string{name}
}

// everything returns the names of all metrics that a process can have, on either database.
func everything(t *testing.T) (series, families []string) {
	t.Helper()
	for _, kind := range storetest.Kinds() {
		db := storetest.Open(t, kind)
		enqueue(t, db, -1, false, "mail")
		_, found := scrape(t, used(t, db))
		for name, f := range found {
			families = append(families, name)
			series = append(series, names(f)...)
		}
	}
	return series, families
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDashboard_NamesMetricsThatExist(t *testing.T) {
	t.Parallel()
	text := read(t, deploy+"grafana/aliquot.json")
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(text), &dashboard); err != nil || len(dashboard.Panels) < 10 {
		t.Fatalf("%v, %d panels", err, len(dashboard.Panels))
	}
	rules := []string{"groups:\n- name: dashboard\n  rules:\n"}
	series, _ := everything(t)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			found := named.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, target.Expr)
			}
			for _, name := range found {
				if !slices.Contains(series, name) {
					t.Errorf("%s: there is no metric %s", p.Title, name)
				}
			}
			expr, err := json.Marshal(strings.NewReplacer("$__rate_interval", "5m", "$job", "aliquot").Replace(target.Expr))
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, "  - {record: 'dashboard:"+strings.Repeat("x", len(rules))+"', expr: "+string(expr)+"}\n")
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(strings.Join(rules, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool(t), "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAlerts_AreValidTestedAndNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	text, tests := read(t, deploy+"prometheus/alerts.yml"), read(t, deploy+"prometheus/alerts_test.yml")
	series, _ := everything(t)
	for _, name := range append(named.FindAllString(text, -1), named.FindAllString(tests, -1)...) {
		if !slices.Contains(series, name) {
			t.Errorf("there is no metric %s", name)
		}
	}
	page := read(t, "../../docs/operation.md")
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(tests, "alertname: "+alert[1]+"\n        exp_alerts:\n") {
			t.Errorf("no test has %s fire", alert[1])
		}
		if !strings.Contains(page, "| `"+alert[1]+"` |") {
			t.Errorf("docs/operation.md does not say what to do on %s", alert[1])
		}
	}
	tool := promtool(t)
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		check := exec.CommandContext(context.WithoutCancel(t.Context()), tool, args...)
		check.Dir = deploy + "prometheus"
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestMetrics_AreAllDocumented(t *testing.T) {
	t.Parallel()
	page := read(t, "../../docs/operation.md")
	_, families := everything(t)
	for _, name := range families {
		if strings.HasPrefix(name, "aliquot_") && !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/operation.md does not list %s", name)
		}
	}
	for _, name := range named.FindAllString(page, -1) {
		if strings.HasPrefix(name, "aliquot_") && !slices.Contains(families, name) {
			t.Errorf("docs/operation.md lists %s, which does not exist", name)
		}
	}
}
