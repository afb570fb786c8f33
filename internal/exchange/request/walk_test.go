package request_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// step is one action, allowed or not, of a random walk.
type step struct {
	who           part
	terms         request.Terms
	now           time.Time
	before, after request.Request
	events        []request.Event
	err           error
	byFlag        bool                 // closed by is_active, according to the walk
	account       []request.TurnRecord // of its turns, according to the walk
}

func drawTerms(t *rapid.T) request.Terms {
	b := rapid.Bool()
	return request.Terms{
		MTA: b.Draw(t, "MTA"), IRB: b.Draw(t, "IRB"), Abstract: b.Draw(t, "abstract"), Address: b.Draw(t, "address"),
		Payment: b.Draw(t, "payment"),
	}
}

// walk lets random parties act on a new request with random terms and shows every step to see, which may change after.
func walk(t *rapid.T, see func(*step)) {
	s := step{terms: drawTerms(t), now: exchangetest.Start}
	s.after = fresh().Begin(s.terms, exchangetest.Start)
	s.note(s.after)
	var issues []request.Issue
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		// it may be negative, as if the clock were set back
		s.now = s.now.Add(time.Duration(rapid.IntRange(-90, 900).Draw(t, "minutes")) * time.Minute)
		s.who = rapid.SampledFrom(parts).Draw(t, "who")
		s.before = s.after
		if rapid.IntRange(0, 19).Draw(t, "material edited") == 0 {
			s.edit(t)
		}
		kept := copied(s.before)
		s.after, s.events, s.err = act(t, &s, &issues)
		s.note(s.after)
		if diff := cmp.Diff(kept, s.before); diff != "" {
			t.Fatalf("the act changed the request it was given (-kept +given):\n%s", diff)
		}
		for _, e := range s.events {
			if e.Kind == request.Closed || e.Kind == request.Reopened || e.Kind == request.StatusChanged {
				s.byFlag = e.Kind == request.Closed
			}
		}
		see(&s)
	}
}

// edit lets the lab change what the material requires.
func (s *step) edit(t *rapid.T) {
	terms := drawTerms(t)
	was, is := turn(s.terms, s.before), turn(terms, s.before)
	after, other := s.before.TermsChanged(s.terms, terms, s.now)
	want := s.before
	want.Clock = after.Clock // it is checked separately
	if was != is {
		want.WaitingSince, want.Reminded, want.Escalates, want.SnoozedUntil = s.now, 0, strings.HasPrefix(is, "lab"),
			nil
		want.Party, want.Step = after.Party, after.Step // they are checked at every step
	}
	if diff := cmp.Diff(want, after); diff != "" || other != (was != is) {
		t.Fatalf("the material changed, waiting for %q, then %q: another turn: %t (-want +got):\n%s", was, is, other,
			diff)
	}
	s.terms, s.before = terms, after
	s.note(after)
}

// note adds to the account of turns if it is another turn now.
func (s *step) note(r request.Request) {
	now := request.TurnRecord{RequestID: r.ID, Seq: int64(len(s.account) + 1), Status: r.Status, What: []string{},
		BeganAt: s.now}
	if words := strings.Fields(turn(s.terms, r)); len(words) > 0 {
		now.Side, now.What = request.Side(words[0]), words[1:]
	}
	if n := len(s.account); n > 0 {
		last := s.account[n-1]
		if last.Status == now.Status && last.Side == now.Side && slices.Equal(last.What, now.What) {
			return
		}
		if now.BeganAt.Before(last.BeganAt) {
			now.BeganAt = last.BeganAt
		}
	}
	s.account = append(s.account, now)
}

func act(t *rapid.T, s *step, issues *[]request.Issue) (request.Request, []request.Event, error) {
	r, roles, by := s.before, s.who.roles, s.who.by
	switch rapid.IntRange(0, 11).Draw(t, "act") {
	case 0:
		return r.Message(roles, by, "When does it leave?", s.terms, s.now)
	case 1:
		slot := rapid.SampledFrom(document.Slots).Draw(t, "reviewed")
		reason := rapid.SampledFrom([]string{"", "unsigned", "blurred"}).Draw(t, "why")
		return r.ReviewDocument(roles, by, slot, rapid.Bool().Draw(t, "accept"), reason, s.terms, s.now)
	case 2:
		after, events, err := r.OpenIssue(roles, by, "thawed", s.terms, s.now)
		if err == nil {
			*issues = append(*issues, request.Issue{ID: int64(len(*issues) + 1), OpenedBy: by})
		}
		return after, events, err
	case 3:
		if len(*issues) == 0 {
			return r, nil, nil
		}
		i := rapid.IntRange(0, len(*issues)-1).Draw(t, "issue")
		after, events, err := r.CloseIssue(roles, by, (*issues)[i], s.terms, s.now)
		if err == nil {
			*issues = slices.Delete(*issues, i, i+1)
		}
		return after, events, err
	case 4:
		p := request.ShipmentPatch{Carrier: exchange.Some(rapid.SampledFrom([]string{"", "DHL", "TNT"}).Draw(t,
			"carrier"))}
		return r.Ship(roles, by, p, s.terms, s.now)
	case 5:
		until := exchange.Until(s.now.Add(time.Duration(rapid.IntRange(-1, 91).Draw(t, "days of snooze")) * day))
		return r.Snooze(roles, by, request.SnoozeNew{Until: exchange.Some(until)}, s.terms, s.now)
	case 6:
		return r.Unsnooze(roles, by, s.terms, s.now)
	case 7, 8:
		p := to(rapid.SampledFrom(request.Statuses).Draw(t, "status"))
		p.Override = maybe(t, "override", "", "agreed by phone")
		p.Reason = maybe(t, "reason", "", "see page 2")
		return applyAt(s, p)
	default:
		return applyAt(s, drawPatch(t))
	}
}

func applyAt(s *step, p request.Patch) (request.Request, []request.Event, error) {
	var a *person.Address
	if p.Address.Value != nil {
		a = address(int64(*p.Address.Value))
	}
	return s.before.Apply(s.who.roles, s.who.by, p, a, s.terms, s.now)
}

// maybe returns a field that is left out most of the time.
func maybe[T any](t *rapid.T, name string, values ...T) exchange.Opt[T] {
	if rapid.IntRange(0, 3).Draw(t, name+" sent") > 0 {
		return exchange.Opt[T]{}
	}
	return exchange.Some(rapid.SampledFrom(values).Draw(t, name))
}

func maybeRef(t *rapid.T, name string) exchange.Null[exchange.Ref] {
	switch n := rapid.IntRange(-6, 3).Draw(t, name); {
	case n < 0:
		return exchange.Null[exchange.Ref]{}
	case n == 0:
		return exchange.Cleared[exchange.Ref]()
	default:
		return exchange.NullOf(exchange.Ref(n))
	}
}

func drawPatch(t *rapid.T) request.Patch {
	return request.Patch{
		Status: maybe(t, "status", request.Statuses...), Active: maybe(t, "is_active", true, false),
		SignedMTA: maybeRef(t, "signed MTA"), IRB: maybeRef(t, "IRB"), ExecutedMTA: maybeRef(t, "executed MTA"),
		Address: maybeRef(t, "address"),
		AssignedTo: maybe(t, "assigned_to", exchange.UserRef(exchangetest.MemberID),
			exchange.UserRef(exchangetest.OwnerID)),
		Abstract: maybe(t, "abstract", "", "To map receptors."), Payment: maybe(t, "payment", "", "OTHER", "CASH"),
		Notes:     maybe(t, "notes", "", "12"),
		Rejection: maybe(t, "rejection", "", "no stock"), Override: maybe(t, "override", "", "agreed by phone"),
		Reason: maybe(t, "reason", "see page 2"),
	}
}

func TestRequest_NoSequenceOfActionsBreaksIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(s *step) {
			checkRefusal(t, s)
			checkTime(t, s)
			checkState(t, s)
			if s.after.Active {
				checkWayOut(t, s.after, s.terms)
				checkTurnCanBeTaken(t, s.after, s.terms)
			}
		})
	})
}

func checkRefusal(t *rapid.T, s *step) {
	if s.err != nil && exchange.CodeOf(s.err) == exchange.Internal {
		t.Fatalf("got an error without a code: %v", s.err)
	}
	if diff := cmp.Diff(s.before, s.after); (s.err != nil || len(s.events) == 0) && diff != "" {
		t.Fatalf("no event (%v), but the request changed (-before +after):\n%s", s.err, diff)
	}
	if s.err != nil && len(s.events) > 0 {
		t.Fatalf("got events %v with %v", kinds(s.events), s.err)
	}
	for _, e := range s.events {
		if e.RequestID != s.before.ID || e.Actor != s.who.by || !e.At.Equal(s.now) ||
			!slices.Contains(request.EventKinds, e.Kind) {
			t.Fatalf("got event %+v, want one of request %d by %s at %s", e, s.before.ID, s.who.by, s.now)
		}
	}
	if s.who.name == "stranger" && len(s.events) > 0 && s.events[0].Kind != request.Messaged &&
		s.events[0].Kind != request.IssueClosed {
		t.Fatalf("a stranger did %v", kinds(s.events))
	}
}

func checkTime(t *rapid.T, s *step) {
	want := s.before.UpdatedAt
	if len(s.events) > 0 {
		want = s.now
	}
	if !s.after.UpdatedAt.Equal(want) {
		t.Fatalf("%v: got updated_at %s, want %s", kinds(s.events), s.after.UpdatedAt, want)
	}
	was, is := turn(s.terms, s.before), turn(s.terms, s.after)
	want, reminded, escalates, snoozed := s.before.WaitingSince, s.before.Reminded, s.before.Escalates,
		s.before.SnoozedUntil
	if was != is {
		want, reminded, escalates, snoozed = s.now, 0, strings.HasPrefix(is, "lab"), nil
	}
	if len(s.events) > 0 && (s.events[0].Kind == request.Snoozed || s.events[0].Kind == request.Unsnoozed) {
		snoozed = (*time.Time)(s.events[0].Detail.Until)
	}
	if s.after.Reminded != reminded || s.after.Escalates != escalates || !cmp.Equal(s.after.SnoozedUntil, snoozed) {
		t.Fatalf("%v, waiting for %q, then %q: got a reminder on day %d, escalates %t, snoozed until %v, want "+
			"%d, %t, %v",
			kinds(s.events), was, is, s.after.Reminded, s.after.Escalates, s.after.SnoozedUntil, reminded, escalates,
			snoozed)
	}
	if !s.after.WaitingSince.Equal(want) {
		t.Fatalf("%v, waiting for %q, then %q: got since %s, want %s", kinds(s.events), was, is, s.after.WaitingSince,
			want)
	}
}

// turn returns whose turn it is and for what, in words; "" if it is nobody's.
func turn(terms request.Terms, r request.Request) string {
	w := request.WaitingOn(terms, lab.DefaultTargets, r)
	if w == nil {
		return ""
	}
	text := string(w.Side)
	for _, what := range w.What {
		text += " " + what
	}
	return text
}

func checkState(t *rapid.T, s *step) {
	r := s.after
	if r.Active != (r.Status.Active() && !s.byFlag) {
		t.Fatalf("got %s with is_active %t, closed by a member: %t", r.Status, r.Active, s.byFlag)
	}
	if w := request.WaitingOn(s.terms, lab.DefaultTargets, r); (w != nil) != r.Active {
		t.Fatalf("got turn %+v of a request with is_active %t", w, r.Active)
	} else if w != nil {
		if w.Side != request.RequesterSide && w.Side != request.LabSide || len(w.What) == 0 ||
			!w.Since.Equal(r.WaitingSince) {
			t.Fatalf("got turn %+v, want a side, what and since %s", w, r.WaitingSince)
		}
		if (w.Due != nil) != (w.Side == request.LabSide) {
			t.Fatalf("got due %v on the side of the %s", w.Due, w.Side)
		}
	}
	if r.OpenIssues < 0 || r.PutBack && (r.Status != request.InFulfillment || r.OpenIssues == 0) ||
		r.Status == request.Fulfilled && r.OpenIssues > 0 {
		t.Fatalf("got %s with %d open issues, put back %t", r.Status, r.OpenIssues, r.PutBack)
	}
	if len(r.Documents) < len(s.before.Documents) {
		t.Fatalf("got %d documents, %d before: a version is gone", len(r.Documents), len(s.before.Documents))
	}
	for _, slot := range document.Slots {
		n := 0
		for _, d := range r.Documents {
			if d.Slot == slot && d.State != document.Superseded {
				n++
			}
		}
		if n > 1 {
			t.Fatalf("got %d present versions of %s", n, slot)
		}
	}
}
