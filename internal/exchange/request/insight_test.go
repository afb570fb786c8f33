package request_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"aliquot/internal/exchange/request"
)

// TestPercentiles_EqualSorting compares with sorting, also with many equal values.
func TestPercentiles_EqualSorting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		d := make(request.Durations, 1+random.IntN(40))
		for i := range d {
			d[i] = random.Int64N(1 + random.Int64N(50))
		}
		sorted := slices.Sorted(slices.Values(d))
		for p := 1; p <= 100; p++ {
			want := sorted[slices.IndexFunc(sorted, func(x int64) bool {
				n := 0
				for _, y := range sorted {
					if y <= x {
						n++
					}
				}
				return n*100 >= p*len(sorted)
			})]
			if got, ok := d.Percentile(p); !ok || got != want {
				t.Fatalf("%d%% of %v: %d, want %d", p, sorted, got, want)
			}
		}
	}
	if _, ok := (request.Durations{}).Percentile(50); ok {
		t.Error("nothing has a median")
	}
}

func TestDuration_ReadsBackAsWritten(t *testing.T) {
	t.Parallel()
	for _, d := range []request.Durations{{}, {0}, {1, 0, 35, 36, 1 << 40}} {
		text, err := d.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got request.Durations
		if err := got.UnmarshalText(text); err != nil || !slices.Equal(got, d) {
			t.Errorf("%v: %s %v %v", d, text, got, err)
		}
	}
	var d request.Durations
	if d.UnmarshalText([]byte("12 X")) == nil {
		t.Error("X is taken for a digit")
	}
}

// TestStages_EachTaskIsOfOneStage checks that every task that a side may have belongs to a stage.
func TestStages_EachTaskIsOfOneStage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		side request.Side
		what string
		want request.Stage
	}{
		{request.LabSide, request.StepDecision, request.DecisionStage},
		{request.LabSide, string(request.NeedExecutedMTA), request.CountersignStage},
		{request.LabSide, request.StepShipment, request.ShippingStage},
		{request.LabSide, request.StepIssue, request.ProblemStage},
		{request.RequesterSide, request.StepReceipt, request.ReceiptStage},
		{request.RequesterSide, request.StepCorrection, request.DocumentsStage},
		{request.RequesterSide, string(request.NeedAbstract), request.DocumentsStage},
		{request.RequesterSide, string(request.NeedIRB), request.DocumentsStage},
		{request.Nobody, "", ""},
	} {
		got := request.TurnRecord{Side: test.side, What: []string{test.what}}.Stage()
		if got != test.want || got != "" && got.Side() != test.side {
			t.Errorf("%s %s: %s, want %s", test.side, test.what, got, test.want)
		}
	}
}
