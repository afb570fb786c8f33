package request

import "testing"

func TestLabels_OnePerCountedTube(t *testing.T) {
	t.Parallel()
	for quantity, want := range map[string]int{"2 vials": 2, "3": 3, "12 x 1 mL": 12, "4 frozen vials, 1 mL each": 4,
		"2× 10 µg": 2, "1 Aliquot": 1,
		"100 mg": 1, "50 µL": 1, "10 mice": 1, "two vials": 1, "": 1, "1.5 mL": 1, "5000 vials": 1} {
		if got := amount(quantity); got != want {
			t.Errorf("%q is %d tubes, not %d", quantity, got, want)
		}
	}
}
