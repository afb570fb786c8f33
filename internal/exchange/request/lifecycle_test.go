package request_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

// lifecycle is an exact copy of the table of contract.md section 6.
const lifecycle = `
| requester | OPEN, APPROVED, IN_FULFILLMENT | CANCELLED |
| requester | APPROVED, nothing missing, no executed MTA owed | IN_FULFILLMENT |
| requester | FULFILLED | VERIFIED_FULFILLED |
| member | OPEN | APPROVED, IN_FULFILLMENT, FULFILLED, REJECTED, INVALID |
| member | APPROVED | OPEN (returned for correction, with a reason), IN_FULFILLMENT, FULFILLED, REJECTED, INVALID |
| member | IN_FULFILLMENT | APPROVED, FULFILLED, REJECTED, INVALID |
| member | FULFILLED | IN_FULFILLMENT |
| member | REJECTED, INVALID | OPEN |
| admin | any | any |`

// ended lists the statuses in which a request is not active.
var ended = []request.Status{"VERIFIED_FULFILLED", "REJECTED", "CANCELLED", "INVALID"}

// The statuses that need all requirements.
var needAll = []request.Status{"IN_FULFILLMENT", "FULFILLED"}

var word = regexp.MustCompile(`[A-Za-z_]+`)

// contractMoves reads the table: from role to status to the statuses that the role may set then.
func contractMoves() map[string]map[request.Status][]request.Status {
	statuses := func(cell string) (list []request.Status) {
		for _, w := range word.FindAllString(cell, -1) {
			if w == "any" {
				return request.Statuses
			}
			if slices.Contains(request.Statuses, request.Status(w)) {
				list = append(list, request.Status(w))
			}
		}
		return list
	}
	table := map[string]map[request.Status][]request.Status{}
	for _, row := range exchangetest.Rows(lifecycle) {
		if table[row[0]] == nil {
			table[row[0]] = map[request.Status][]request.Status{}
		}
		for _, from := range statuses(row[1]) {
			table[row[0]][from] = append(table[row[0]][from], statuses(row[2])...)
		}
	}
	return table
}

// contractAllows returns, in the order of Statuses, the statuses that a part may set on a request.
func contractAllows(who part, from request.Status) []request.Status {
	table, list := contractMoves(), []request.Status{}
	for _, s := range request.Statuses {
		for role := range strings.SplitSeq(who.name, "+") {
			if s != from && slices.Contains(table[role][from], s) {
				list = append(list, s)
				break
			}
		}
	}
	return list
}

// everOwn reports whether the part may ever set a status.
func everOwn(who part, s request.Status) bool {
	return slices.ContainsFunc(request.Statuses, func(from request.Status) bool {
		return slices.Contains(contractAllows(who, from), s)
	})
}

// sought is one way to request a transition.
type sought struct {
	name     string
	make     func(request.Status) request.Request
	missing  []request.Need
	override string
}

var allNeeds = []request.Need{
	request.NeedAbstract, request.NeedSignedMTA, request.NeedIRB, request.NeedAddress, request.NeedPayment,
	request.NeedExecutedMTA,
}

func uncountersigned(s request.Status) request.Request {
	r := given(s)
	r.Documents = r.Documents[:2]
	return r
}

func TestMoves_OfEveryRoleAreTheContracts(t *testing.T) {
	t.Parallel()
	ways := []sought{
		{"nothing missing", given, nil, ""},
		{"all missing", at, allNeeds, ""},
		{"executed MTA owed", uncountersigned, []request.Need{request.NeedExecutedMTA}, ""},
		{"all missing, overridden", at, allNeeds, "the board agreed by phone"},
		{"executed MTA owed, overridden", uncountersigned, []request.Need{request.NeedExecutedMTA},
			"countersigned on paper"},
	}
	for _, who := range parts {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			for _, from := range request.Statuses {
				if got, want := request.AllowedStatuses(who.roles, from),
					contractAllows(who, from); !slices.Equal(got, want) {
					t.Errorf("Moves from %s: got %v, want %v", from, got, want)
				}
				for _, to := range request.Statuses {
					for _, way := range ways {
						t.Run(string(from)+" to "+string(to)+", "+way.name, func(t *testing.T) {
							tryMove(t, who, from, to, way)
						})
					}
				}
			}
		})
	}
}

func tryMove(t *testing.T, who part, from, status request.Status, way sought) {
	t.Helper()
	before := way.make(from)
	p := to(status)
	if way.override != "" {
		p.Override = exchange.Some(way.override)
	}
	after, events, err := apply(before, who, p, everything)
	guarded := len(way.missing) > 0 && slices.Contains(needAll, status)
	overrides := way.override != "" && guarded
	refused := func(code exchange.Code, field string) {
		t.Helper()
		exchangetest.WantCode(t, err, code, field)
		exchangetest.Same(t, "a request whose move was refused", after, before)
		if len(events) > 0 {
			t.Errorf("got events %v of a refused move", kinds(events))
		}
	}
	switch allowed := contractAllows(who, from); {
	case way.override != "" && !who.lab():
		refused(exchange.FieldForbidden, "override_reason")
	case from == status && way.override != "":
		refused(exchange.InvalidInput, "override_reason")
	case from == status:
		wantKinds(t, events, err)
		exchangetest.Same(t, "a request given the status it has", after, before)
	case !everOwn(who, status):
		refused(exchange.FieldForbidden, "status")
	case !slices.Contains(allowed, status):
		refused(exchange.InvalidTransition, "")
		exchangetest.Same(t, "status of the refusal", exchangetest.Details(err)["status"], any(from))
		exchangetest.Same(t, "allowed of the refusal", exchangetest.Details(err)["allowed"], any(allowed))
	case guarded && !overrides:
		refused(exchange.MissingRequirements, "")
		exchangetest.Same(t, "missing of the refusal", exchangetest.Details(err)["missing"], any(way.missing))
	default:
		moved(t, who, from, status, way, overrides, after, events, err)
	}
}

// moved checks the result of an accepted transition: status, is_active, and one event with its details.
func moved(t *testing.T, who part, from, status request.Status, way sought, overrides bool, after request.Request,
	events []request.Event, err error) {
	t.Helper()
	wantKinds(t, events, err, request.StatusChanged)
	want := request.EventDetail{From: from, To: status}
	if overrides {
		want.Override, want.Missing = way.override, way.missing
	}
	e := events[0]
	exchangetest.Same(t, "detail of the event", e.Detail, want)
	if e.Actor != who.by || !e.At.Equal(exchangetest.Later) || e.RequestID != 31 {
		t.Errorf("got an event of request %d by %s at %s, want 31, %s, %s", e.RequestID, e.Actor, e.At, who.by,
			exchangetest.Later)
	}
	if after.Status != status || after.Active == slices.Contains(ended, status) {
		t.Errorf("got %s with is_active %t", after.Status, after.Active)
	}
	if after.Override != want.Override {
		t.Errorf("got override_reason %q kept, want %q", after.Override, want.Override)
	}
	if !after.UpdatedAt.Equal(exchangetest.Later) {
		t.Errorf("got updated_at %s, want %s", after.UpdatedAt, exchangetest.Later)
	}
}

func TestStatuses_AreTheContracts(t *testing.T) {
	t.Parallel()
	want := []request.Status{"OPEN", "APPROVED", "IN_FULFILLMENT", "FULFILLED", "VERIFIED_FULFILLED", "REJECTED",
		"CANCELLED", "INVALID"}
	if !slices.Equal(request.Statuses, want) {
		t.Errorf("got %v, want %v", request.Statuses, want)
	}
	for _, s := range want {
		if got := s.Active(); got == slices.Contains(ended, s) {
			t.Errorf("%s: got is_active %t", s, got)
		}
	}
}

func TestMove_UnknownStatusIsAnErrorOfStatus(t *testing.T) {
	t.Parallel()
	for _, s := range []request.Status{"", "open", "CLOSED", "None", " OPEN"} {
		for _, who := range parts {
			_, events, err := apply(fresh(), who, to(s), everything)
			exchangetest.WantCode(t, err, exchange.InvalidInput, "status")
			if events != nil {
				t.Errorf("%s %q: got events %v", who.name, s, kinds(events))
			}
		}
	}
}

func TestMove_ReasonIsInTheEventAndReturnsForCorrection(t *testing.T) {
	t.Parallel()
	p := to(request.Open)
	p.Reason = exchange.Some(" Please name the mouse strain. ")
	r, events, err := apply(given(request.Approved), asMember, p, everything)
	wantKinds(t, events, err, request.StatusChanged)
	if want := "Please name the mouse strain."; r.Correction != want || events[0].Detail.Reason != want {
		t.Errorf("got correction %q, event %q, want %q", r.Correction, events[0].Detail.Reason, want)
	}
	r, _, err = apply(given(request.Approved), asMember, to(request.Open), everything)
	if err != nil || r.Correction == "" {
		t.Errorf("returned without a reason: got correction %q, %v, want one that says so", r.Correction, err)
	}
	r, _, err = apply(r, asMember, to(request.Approved), everything)
	if err != nil || r.Correction != "" {
		t.Errorf("accepted again: got correction %q, %v, want none", r.Correction, err)
	}
}

func TestOverride_HoldsUntilTheRequestGoesBack(t *testing.T) {
	t.Parallel()
	p := to(request.InFulfillment)
	p.Override = exchange.Some("ethics waived")
	r, _, err := apply(at(request.Approved), asMember, p, everything)
	if err != nil {
		t.Fatal(err)
	}
	on, events, err := apply(r, asMember, to(request.Fulfilled), everything)
	wantKinds(t, events, err, request.StatusChanged)
	if on.Override != "ethics waived" {
		t.Errorf("got override %q after FULFILLED, want it kept", on.Override)
	}
	back, _, err := apply(r, asMember, to(request.Approved), everything)
	if err != nil || back.Override != "" {
		t.Errorf("back at APPROVED: got override %q, %v, want none", back.Override, err)
	}
	_, _, err = apply(back, asMember, to(request.InFulfillment), everything)
	exchangetest.WantCode(t, err, exchange.MissingRequirements, "")
}
