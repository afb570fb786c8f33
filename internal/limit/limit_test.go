package limit_test

import (
	"strconv"
	"testing"
	"time"

	"aliquot/internal/limit"

	"pgregory.net/rapid"
)

func gate(t interface{ Fatal(...any) }, r limit.Rule) *limit.Gate {
	g, err := limit.NewGate(r)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestLimit_BurstThenRate(t *testing.T) {
	t.Parallel()
	for _, r := range []limit.Rule{limit.User, limit.Address, limit.Login} {
		g, now := gate(t, r), time.Unix(1_800_000_000, 0)
		for i := range r.Burst {
			if v := g.Pass("ada", now); !v.OK || v.Left != r.Burst-1-i {
				t.Fatalf("%s: call %d: %+v", r.Name, i, v)
			}
		}
		v := g.Pass("ada", now)
		if v.OK || v.Retry < time.Second || v.Left != 0 {
			t.Fatalf("%s: over the burst: %+v", r.Name, v)
		}
		if v := g.Pass("bob", now); !v.OK {
			t.Errorf("%s: another caller is refused: %+v", r.Name, v)
		}
		if v := g.Pass("ada", now.Add(v.Retry)); !v.OK {
			t.Errorf("%s: after the time to retry: %+v", r.Name, v)
		}
	}
}

func TestLimit_NeverPassesMoreThanBurstAndRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, start := gate(t, limit.Address), time.Unix(1_800_000_000, 0)
		now, passed := start, 0
		for _, wait := range rapid.SliceOfN(rapid.IntRange(0, 400), 1, 200).Draw(t, "milliseconds between calls") {
			now = now.Add(time.Duration(wait) * time.Millisecond)
			if g.Pass("ada", now).OK {
				passed++
			}
		}
		most := float64(limit.Address.Burst) + now.Sub(start).Seconds()*limit.Address.Rate
		if float64(passed) > most+1e-6 {
			t.Fatalf("%d calls passed in %v, at most %f may", passed, now.Sub(start), most)
		}
	})
}

func TestLimit_MemoryIsBounded(t *testing.T) {
	t.Parallel()
	r := limit.Address
	r.Callers = 100
	g, now := gate(t, r), time.Unix(1_800_000_000, 0)
	for i := range 20_000 {
		g.Pass(strconv.Itoa(i), now)
	}
	known := 0
	for i := range 20_000 {
		if g.Pass(strconv.Itoa(i), now).Left < r.Burst-1 {
			known++
		}
	}
	if known > 10*r.Callers {
		t.Errorf("%d callers are remembered, %d are meant to be", known, r.Callers)
	}
}

func BenchmarkPass(b *testing.B) {
	g := gate(b, limit.User)
	now := time.Now()
	for b.Loop() {
		g.Pass("ada", now)
	}
}

func TestGates_OfSeveralProcessesAllowTheLimitTogether(t *testing.T) {
	t.Parallel()
	first, second := slow(t), slow(t)
	if !passes(first, "", "203.0.113.1:1") {
		t.Fatal("refused at first")
	}
	for _, g := range []*limit.Gates{first, second} {
		g.Divide(3) // one call at once of three
	}
	passed := 0
	for range 5 {
		for _, g := range []*limit.Gates{first, second} {
			if passes(g, "", "203.0.113.2:1") {
				passed++
			}
		}
	}
	if passed != 2 {
		t.Errorf("two of three processes let %d calls through, want 2", passed)
	}
	first.Divide(1)
	if v := first.Pass("", "203.0.113.3:1", false)[0]; v.Rule.Policy() != `"address";q=3;w=3000` || v.Left != 2 {
		t.Errorf("alone again: %s, %d left", v.Rule.Policy(), v.Left)
	}
}
