package lab

import "testing"

func TestInsightsExport_HasNoFormula(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{"HeLa": "HeLa", "-5": "-5", "": "", "=1+1": "'=1+1",
		"@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3", "＝1+1": "'＝1+1",
		"＋1": "'＋1", "－1": "'－1", "＠x": "'＠x", "\tx": "'\tx", "\r=1": "'\r=1", "\n=1": "'\n=1", "a=1": "a=1"} {
		if got := asText(cell); got != want {
			t.Errorf("%q is written as %q, want %q", cell, got, want)
		}
	}
}
