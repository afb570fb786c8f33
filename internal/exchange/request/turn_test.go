package request_test

import (
	"maps"
	"testing"
	"time"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTurns_AddUpToTheAgeOfTheRequest: on any walk, with a clock that is set back now and then.
func TestTurns_AddUpToTheAgeOfTheRequest(t *testing.T) {
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
			sides, stages := map[request.Side]int64{}, map[request.Status]int64{}
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

func TestTurns_StatusBeginsAnEntryOfTheSameTurn(t *testing.T) {
	t.Parallel()
	before := given(request.Approved).Begin(everything, exchangetest.Start)
	after, _, err := apply(before, asMember, to(request.InFulfillment), everything)
	if err != nil {
		t.Fatal(err)
	}
	want := request.Clock{Turn: 2, Since: exchangetest.Later, Sides: map[request.Side]int64{request.LabSide: 26 * 3600},
		Stages: map[request.Status]int64{request.Approved: 26 * 3600}}
	exchangetest.Same(t, "the clock", after.Clock, want)
	if !after.WaitingSince.Equal(exchangetest.Start) {
		t.Errorf("the lab's turn to ship began again at %s", after.WaitingSince)
	}
}

func TestTurns_AlteredOnesAreFound(t *testing.T) {
	t.Parallel()
	turns := func() []request.TurnRecord {
		return []request.TurnRecord{
			{Seq: 1, Status: request.Open, Side: request.RequesterSide, BeganAt: exchangetest.Start},
			{Seq: 2, Status: request.Open, Side: request.LabSide, BeganAt: exchangetest.Later},
			{Seq: 3, Status: request.Rejected, Side: request.Nobody, BeganAt: exchangetest.Later.Add(time.Hour)},
		}
	}
	c := request.Clock{Turn: 3, Since: exchangetest.Later.Add(time.Hour),
		Sides:  map[request.Side]int64{request.RequesterSide: 26 * 3600, request.LabSide: 3600},
		Stages: map[request.Status]int64{request.Open: 27 * 3600}}
	if !c.Agrees(exchangetest.Start, turns()) {
		t.Error("what was not altered does not agree")
	}
	for what, list := range map[string][]request.TurnRecord{
		"none": nil, "the first is missing": turns()[1:], "the last is missing": turns()[:2],
		"one is missing": append(turns()[:1], turns()[2]),
		"another party":  altered(turns(), func(t *request.TurnRecord) { t.Side = request.RequesterSide }),
		"another status": altered(turns(), func(t *request.TurnRecord) { t.Status = request.Approved }),
		"another moment": altered(turns(),
			func(t *request.TurnRecord) { t.BeganAt = exchangetest.Later.Add(time.Second) }),
		"before the first": altered(turns(),
			func(t *request.TurnRecord) { t.BeganAt = exchangetest.Start.Add(-time.Second) }),
		"a number twice": altered(turns(), func(t *request.TurnRecord) { t.Seq = 1 }),
		"an hour of no turn": append(turns(),
			request.TurnRecord{Seq: 4, BeganAt: exchangetest.Later.Add(2 * time.Hour)}),
	} {
		if c.Agrees(exchangetest.Start, list) {
			t.Errorf("%s: it agrees", what)
		}
	}
	if c.Agrees(exchangetest.Start.Add(time.Second), turns()) {
		t.Error("made at another moment: it agrees")
	}
}

// altered returns the list with its second entry changed.
func altered(list []request.TurnRecord, do func(*request.TurnRecord)) []request.TurnRecord {
	do(&list[1])
	return list
}
