package table_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/table"
)

func TestNew_RefusesWhatCannotBeARule(t *testing.T) {
	t.Parallel()
	columns := []table.Column{{Name: "human", Values: []string{"YES", "NO"}}}
	good := table.Rule{ID: "1", Then: "ask", Why: "so"}
	cases := map[string]struct {
		columns []table.Column
		rules   []table.Rule
	}{
		"a column twice":  {append(columns, columns...), nil},
		"an empty column": {[]table.Column{{Name: "human"}}, nil},
		"a value twice":   {[]table.Column{{Name: "human", Values: []string{"YES", "YES"}}}, nil},
		"an id twice":     {columns, []table.Rule{good, good}},
		"no reason":       {columns, []table.Rule{{ID: "1", Then: "ask"}}},
		"an unknown column": {
			columns,
			[]table.Rule{{ID: "1", Then: "a", Why: "b", When: map[string][]string{"animal": {"YES"}}}},
		},
		"an unknown value": {
			columns,
			[]table.Rule{{ID: "1", Then: "a", Why: "b", When: map[string][]string{"human": {"MAYBE"}}}},
		},
		"a cell without any": {
			columns,
			[]table.Rule{{ID: "1", Then: "a", Why: "b", When: map[string][]string{"human": {}}}},
		},
	}
	for name, c := range cases {
		if _, err := table.New(c.columns, c.rules); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := table.New(columns, []table.Rule{good}); err != nil {
		t.Error(err)
	}
}

func TestMatch_RefusesValuesThatNoColumnHas(t *testing.T) {
	t.Parallel()
	tab, err := table.New([]table.Column{{Name: "human", Values: []string{"YES", "NO"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range [][]string{nil, {"MAYBE"}, {"YES", "NO"}} {
		if _, err := tab.Match(values...); err == nil {
			t.Errorf("%q is accepted", values)
		}
	}
}

// TestCheck_AgreesWithTryingEveryPoint compares the proof with all points of small tables, one by one.
func TestCheck_AgreesWithTryingEveryPoint(t *testing.T) {
	t.Parallel()
	values := []string{"a", "b", "c"}
	columns := []table.Column{{Name: "x", Values: values}, {Name: "y", Values: values}, {Name: "z", Values: values[:2]}}
	rapid.Check(t, func(t *rapid.T) {
		var rules []table.Rule
		for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
			when := map[string][]string{}
			for _, c := range columns {
				if cell := rapid.SliceOfDistinct(rapid.SampledFrom(c.Values), rapid.ID).Draw(t, c.Name); len(cell) > 0 {
					when[c.Name] = cell
				}
			}
			rules = append(rules, table.Rule{ID: fmt.Sprint(i), Then: "then", Why: "why", When: when})
		}
		tab, err := table.New(columns, rules)
		if err != nil {
			t.Fatal(err)
		}
		gaps, firsts, pairs := 0, map[string]bool{}, map[[2]string]bool{}
		for _, x := range values {
			for _, y := range values {
				for _, z := range values[:2] {
					fired, err := tab.Match(x, y, z)
					if err != nil {
						t.Fatal(err)
					}
					if len(fired) == 0 {
						gaps++
						continue
					}
					firsts[fired[0].ID] = true
					for i := range fired {
						for _, later := range fired[i+1:] {
							pairs[[2]string{fired[i].ID, later.ID}] = true
						}
					}
				}
			}
		}
		report := tab.Check()
		points := 0
		for _, g := range report.Gaps {
			points += len(g["x"]) * len(g["y"]) * len(g["z"])
		}
		if points != gaps || len(report.Overlaps) != len(pairs) || len(report.Dead) != len(rules)-len(firsts) {
			t.Fatalf("Check finds %d points without a rule, %d overlaps, %d dead rules; trying them %d, %d, %d",
				points, len(report.Overlaps), len(report.Dead), gaps, len(pairs), len(rules)-len(firsts))
		}
	})
}
