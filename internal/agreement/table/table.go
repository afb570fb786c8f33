// Package table has decision tables: rules as rows of data, which a program can prove complete and free of overlap.
package table

import (
	"errors"
	"fmt"
	"slices"
)

// maxValues is how many values a column may have: a cell is a set of bits.
const maxValues = 64

// Column is something that rules depend on, with every value it can have.
type Column struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Rule is a row. It applies where each column of When has one of the values listed there; a column that When does not
// name may have any value.
type Rule struct {
	ID       string              `json:"id"`
	When     map[string][]string `json:"when"`
	Then     string              `json:"then"`
	Why      string              `json:"why"`
	Citation string              `json:"citation,omitempty"`
}

// Table is a compiled decision table. It is safe for concurrent use.
type Table struct {
	columns []Column
	index   []map[string]int // per column: the position of each value
	rules   []Rule
	boxes   []box // per rule
}

// box is a set of points: per column, the bits of the values that are in it.
type box []uint64

// New compiles a table. It refuses a column or a value that does not exist or is there twice, a rule that can never
// apply, and a rule without id, result or reason.
func New(columns []Column, rules []Rule) (*Table, error) {
	t := &Table{columns: columns, rules: rules}
	var faults []error
	byName := map[string]int{}
	for i, c := range columns {
		if _, twice := byName[c.Name]; twice || len(c.Values) == 0 || len(c.Values) > maxValues {
			faults = append(
				faults,
				fmt.Errorf("column %q is there twice, or has not between 1 and %d values", c.Name, maxValues),
			)
		}
		byName[c.Name] = i
		index := map[string]int{}
		for n, v := range c.Values {
			index[v] = n
		}
		if len(index) != len(c.Values) {
			faults = append(faults, fmt.Errorf("column %q has a value twice", c.Name))
		}
		t.index = append(t.index, index)
	}
	ids := map[string]bool{}
	for _, r := range rules {
		if r.ID == "" || r.Then == "" || r.Why == "" || ids[r.ID] {
			faults = append(faults, fmt.Errorf("rule %q has no id of its own, no result or no reason", r.ID))
		}
		ids[r.ID] = true
		b := t.everything()
		for name, values := range r.When {
			i, known := byName[name]
			if !known || len(values) == 0 {
				faults = append(faults, fmt.Errorf("rule %q has an unknown column %q, or no value for it", r.ID, name))
				continue
			}
			b[i] = 0
			for _, v := range values {
				n, known := t.index[i][v]
				if !known {
					faults = append(faults, fmt.Errorf("rule %q: column %q has no value %q", r.ID, name, v))
					continue
				}
				b[i] |= 1 << n
			}
		}
		t.boxes = append(t.boxes, b)
	}
	return t, errors.Join(faults...)
}

// Match returns the rules that apply to the values, one per column, in the order of the table. It fails on a value
// that its column does not have.
func (t *Table) Match(values ...string) ([]Rule, error) {
	if len(values) != len(t.columns) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(t.columns))
	}
	var point [maxValues]uint64
	for i, v := range values {
		n, known := t.index[i][v]
		if !known {
			return nil, fmt.Errorf("column %q has no value %q", t.columns[i].Name, v)
		}
		point[i] = 1 << n
	}
	var fired []Rule
	for r, b := range t.boxes {
		applies := true
		for i, cell := range b {
			applies = applies && cell&point[i] != 0
		}
		if applies {
			fired = append(fired, t.rules[r])
		}
	}
	return fired, nil
}

// Report is what Check found. Gaps are sets of points to which no rule applies, Overlaps pairs of rules that apply to
// the same point, and Dead the rules that apply only where an earlier one does.
type Report struct {
	Gaps     []map[string][]string
	Overlaps [][2]string
	Dead     []string
}

// Check proves which points have no rule or several: it subtracts the rules from the set of all points, so that its
// time depends on the number of rules and not on the number of points.
func (t *Table) Check() Report {
	var report Report
	rest := []box{t.everything()}
	for i, b := range t.boxes {
		own := []box{b}
		for j, earlier := range t.boxes[:i] {
			if b.meets(earlier) {
				report.Overlaps = append(report.Overlaps, [2]string{t.rules[j].ID, t.rules[i].ID})
			}
			own = subtract(own, earlier)
		}
		if len(own) == 0 {
			report.Dead = append(report.Dead, t.rules[i].ID)
		}
		rest = subtract(rest, b)
	}
	for _, gap := range rest {
		report.Gaps = append(report.Gaps, t.describe(gap))
	}
	return report
}

// Results returns what the rules can result in, each once, sorted.
func (t *Table) Results() []string {
	var results []string
	for _, r := range t.rules {
		results = append(results, r.Then)
	}
	slices.Sort(results)
	return slices.Compact(results)
}

// Rules returns the rows in their order.
func (t *Table) Rules() []Rule { return slices.Clone(t.rules) }

// everything returns the set of all points.
func (t *Table) everything() box {
	b := make(box, len(t.columns))
	for i, c := range t.columns {
		b[i] = 1<<len(c.Values) - 1
	}
	return b
}

func (t *Table) describe(b box) map[string][]string {
	out := map[string][]string{}
	for i, c := range t.columns {
		for n, v := range c.Values {
			if b[i]&(1<<n) != 0 {
				out[c.Name] = append(out[c.Name], v)
			}
		}
	}
	return out
}

func (b box) meets(other box) bool {
	for i := range b {
		if b[i]&other[i] == 0 {
			return false
		}
	}
	return true
}

// subtract returns boxes, without a point in common, that hold what is in one of from and not in b.
func subtract(from []box, b box) []box {
	var out []box
	for _, f := range from {
		if !f.meets(b) {
			out = append(out, f)
			continue
		}
		inside := slices.Clone(f)
		for i := range f {
			if outside := f[i] &^ b[i]; outside != 0 {
				piece := slices.Clone(inside)
				piece[i] = outside
				out = append(out, piece)
			}
			inside[i] = f[i] & b[i]
		}
	}
	return out
}
