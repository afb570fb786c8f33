package exchange_test

import (
	"maps"
	"testing"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTheTurnsOfARequestAddUpToItsAge: on any walk, with a clock that is set back now and then.
func TestTheTurnsOfARequestAddUpToItsAge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(s *step) {
			if rapid.IntRange(0, 9).Draw(t, "deleted") == 0 {
				deleted, _, err := s.after.Delete(s.who.roles, s.who.by, s.terms, s.now)
				if err != nil {
					t.Fatal(err)
				}
				s.after = deleted
				s.note(deleted)
			}
			present := s.account[len(s.account)-1]
			if diff := cmp.Diff(present, s.after.PresentTurn(s.terms)); diff != "" {
				t.Fatalf("%v by %s: the present turn (-want +got):\n%s", kinds(s.events), s.who.name, diff)
			}
			if step := append(present.What, "")[0]; s.after.Party != present.Side || s.after.Step != step {
				t.Fatalf("%v by %s: it is kept that %q is to do %q, want %q and %q", kinds(s.events), s.who.name,
					s.after.Party, s.after.Step, present.Side, step)
			}
			sides, stages := map[exchange.Side]int64{}, map[exchange.Status]int64{}
			for i, turn := range s.account[1:] {
				last := s.account[i]
				seconds := int64(turn.BeganAt.Sub(last.BeganAt) / time.Second)
				sides[last.Side] += seconds
				stages[last.Status] += seconds
			}
			c := s.after.Clock
			if !c.Agrees(s.after.CreatedAt, s.account) {
				t.Fatalf("got %+v of %+v", c, s.account)
			}
			age := int64(c.Since.Sub(s.after.CreatedAt) / time.Second)
			if sum(c.Sides) != age || sum(c.Stages) != age || !maps.Equal(lasting(sides), c.Sides) ||
				!maps.Equal(lasting(stages), c.Stages) {
				t.Fatalf("got %+v, want %v and %v, which are %d s", c, sides, stages, age)
			}
		})
	})
}

func sum[K comparable](m map[K]int64) (total int64) {
	for _, n := range m {
		total += n
	}
	return total
}

// lasting returns m without the entries of zero duration.
func lasting[K comparable](m map[K]int64) map[K]int64 {
	maps.DeleteFunc(m, func(_ K, n int64) bool { return n == 0 })
	return m
}

func TestAStatusBeginsAnEntryOfTheSameTurn(t *testing.T) {
	t.Parallel()
	before := given(exchange.Approved).Begin(everything, start)
	after, _, err := apply(before, asMember, to(exchange.InFulfillment), everything)
	if err != nil {
		t.Fatal(err)
	}
	want := exchange.Clock{Turn: 2, Since: later, Sides: map[exchange.Side]int64{exchange.LabSide: 26 * 3600},
		Stages: map[exchange.Status]int64{exchange.Approved: 26 * 3600}}
	same(t, "the clock", after.Clock, want)
	if !after.WaitingSince.Equal(start) {
		t.Errorf("the lab's turn to ship began anew at %s", after.WaitingSince)
	}
}

func TestAnAccountThatWasAlteredDoesNotAgree(t *testing.T) {
	t.Parallel()
	turns := func() []exchange.RequestTurn {
		return []exchange.RequestTurn{
			{Seq: 1, Status: exchange.Open, Side: exchange.RequesterSide, BeganAt: start},
			{Seq: 2, Status: exchange.Open, Side: exchange.LabSide, BeganAt: later},
			{Seq: 3, Status: exchange.Rejected, Side: exchange.Nobody, BeganAt: later.Add(time.Hour)},
		}
	}
	c := exchange.Clock{Turn: 3, Since: later.Add(time.Hour),
		Sides:  map[exchange.Side]int64{exchange.RequesterSide: 26 * 3600, exchange.LabSide: 3600},
		Stages: map[exchange.Status]int64{exchange.Open: 27 * 3600}}
	if !c.Agrees(start, turns()) {
		t.Error("what was not altered does not agree")
	}
	for what, list := range map[string][]exchange.RequestTurn{
		"none": nil, "the first is missing": turns()[1:], "the last is missing": turns()[:2],
		"one is missing":     append(turns()[:1], turns()[2]),
		"another party":      altered(turns(), func(t *exchange.RequestTurn) { t.Side = exchange.RequesterSide }),
		"another status":     altered(turns(), func(t *exchange.RequestTurn) { t.Status = exchange.Approved }),
		"another moment":     altered(turns(), func(t *exchange.RequestTurn) { t.BeganAt = later.Add(time.Second) }),
		"before the first":   altered(turns(), func(t *exchange.RequestTurn) { t.BeganAt = start.Add(-time.Second) }),
		"a number twice":     altered(turns(), func(t *exchange.RequestTurn) { t.Seq = 1 }),
		"an hour of no turn": append(turns(), exchange.RequestTurn{Seq: 4, BeganAt: later.Add(2 * time.Hour)}),
	} {
		if c.Agrees(start, list) {
			t.Errorf("%s: it agrees", what)
		}
	}
	if c.Agrees(start.Add(time.Second), turns()) {
		t.Error("made at another moment: it agrees")
	}
}

// altered returns the list with its second entry changed.
func altered(list []exchange.RequestTurn, do func(*exchange.RequestTurn)) []exchange.RequestTurn {
	do(&list[1])
	return list
}
