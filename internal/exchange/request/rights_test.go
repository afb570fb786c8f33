package request_test

import (
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// changes returns, for every field of an update except status and is_active, a patch that changes it in any request of
// these tests.
func changes() map[string]request.Patch {
	ref := exchange.NullOf(exchange.Ref(777))
	return map[string]request.Patch{
		"irb_attachment":                  {IRB: ref},
		"requester_signed_mta_attachment": {SignedMTA: ref},
		"executed_mta_attachment":         {ExecutedMTA: ref},
		"requester_abstract":              {Abstract: exchange.Some("Another question.")},
		"address":                         {Address: ref},
		"payment_method":                  {Payment: exchange.Some("OTHER")},
		"payment_method_notes":            {Notes: exchange.Some("cost centre 12")},
		"assigned_to":                     {AssignedTo: exchange.Some(exchange.UserRef(exchangetest.OwnerID))},
		"rejection_reason":                {Rejection: exchange.Some("no stock")},
	}
}

// fieldRights is from contract.md section 6: y may change the field, n gets FIELD_FORBIDDEN.
const fieldRights = `
| field | requester | member | admin | requester+member | stranger |
| irb_attachment | y | y | y | y | n |
| requester_signed_mta_attachment | y | y | y | y | n |
| executed_mta_attachment | n | y | y | y | n |
| requester_abstract | y | n | y | y | n |
| address | y | n | y | y | n |
| payment_method | y | n | y | y | n |
| payment_method_notes | y | n | y | y | n |
| assigned_to | n | y | y | y | n |
| rejection_reason | n | y | y | y | n |`

func TestRights_OfFieldsAreTheContracts(t *testing.T) {
	t.Parallel()
	table := exchangetest.Rows(fieldRights)
	if len(table)-1 != len(changes()) {
		t.Fatalf("got %d rows, want one for each of %d fields", len(table)-1, len(changes()))
	}
	for _, status := range activeStatuses {
		for _, row := range table[1:] {
			field := row[0]
			p, ok := changes()[field]
			if !ok || len(row) != 1+len(parts) {
				t.Fatalf("row %v: an unknown field or a missing cell", row)
			}
			for i, who := range parts {
				right := row[1+i] == "y"
				if field == "requester_abstract" && status != request.Open && !who.roles.Admin {
					right = false // "while OPEN"
				}
				r, events, err := apply(given(status), who, p, everything)
				switch {
				case !right:
					exchangetest.WantCode(t, err, exchange.FieldForbidden, field)
				case err != nil || len(events) != 1:
					t.Errorf("%s changes %s while %s: got %v, %v, want one event", who.name, field, status,
						kinds(events), err)
				case cmp.Equal(whole(r), whole(given(status))):
					t.Errorf("%s changes %s while %s: got an event but no change", who.name, field, status)
				}
			}
		}
	}
}

// An error in a field's value reveals nothing to a stranger; someone without the right to a field gets that error if
// the value is valid.
func TestRights_AreCheckedAfterValues(t *testing.T) {
	t.Parallel()
	p := request.Patch{Payment: exchange.Some("CASH"), Notes: exchange.Some("a\x00b"),
		Status: exchange.Some(request.Status("DONE"))}
	for _, who := range parts {
		_, _, err := apply(fresh(), who, p, everything)
		exchangetest.WantFieldErrors(t, err, "payment_method", "payment_method_notes", "status")
	}
}

func TestRights_ClearingIsAChange(t *testing.T) {
	t.Parallel()
	none := exchange.Cleared[exchange.Ref]()
	for name, test := range map[string]struct {
		patch request.Patch
		kind  request.EventKind
	}{
		"signed MTA": {request.Patch{SignedMTA: none}, request.DocumentWithdrawn},
		"IRB":        {request.Patch{IRB: none}, request.DocumentWithdrawn},
		"address":    {request.Patch{Address: none}, request.AddressChanged},
		"payment":    {request.Patch{Payment: exchange.Some("")}, request.PaymentChanged},
		"abstract":   {request.Patch{Abstract: exchange.Some(" ")}, request.AbstractChanged},
	} {
		r, events, err := apply(given(request.Open), asRequester, test.patch, everything)
		wantKinds(t, events, err, test.kind)
		if got := request.Missing(request.Requirements(everything, r)); len(got) != 1 {
			t.Errorf("%s cleared: got %v owed again, want one thing", name, got)
		}
		again, events, err := apply(r, asRequester, test.patch, everything)
		wantKinds(t, events, err)
		exchangetest.Same(t, name+" cleared twice", again, r)
	}
}

// Anyone who can read a request can send back what they read: nothing is forbidden, nothing happens (contract.md
// section 1, "Unknown and read-only fields").
func TestPut_OfWhatWasReadChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(s *step) {
			for _, who := range parts {
				after, events, err := apply(s.after, who, whole(s.after), s.terms)
				if err != nil || len(events) > 0 {
					t.Fatalf("%s sends back %+v: got %v, %v", who.name, s.after, kinds(events), err)
				}
				if diff := cmp.Diff(s.after, after); diff != "" {
					t.Fatalf("%s sent the same back (-before +after):\n%s", who.name, diff)
				}
			}
		})
	})
}

// A PUT of the whole object with another status has the same effect as a PATCH of the status alone.
func TestPut_MovesLikeAPatchOfTheStatus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		who := rapid.SampledFrom(parts).Draw(t, "who")
		status := rapid.SampledFrom(request.Statuses).Draw(t, "status")
		walk(t, func(s *step) {
			put := whole(s.after)
			put.Status = exchange.Some(status)
			a, aEvents, aErr := apply(s.after, who, put, s.terms)
			b, bEvents, bErr := apply(s.after, who, to(status), s.terms)
			if (aErr == nil) != (bErr == nil) || aErr != nil && exchange.CodeOf(aErr) != exchange.CodeOf(bErr) {
				t.Fatalf("%s, %s to %s: PUT got %v, PATCH got %v", who.name, s.after.Status, status, aErr, bErr)
			}
			if diff := cmp.Diff(b, a); diff != "" || !slices.Equal(kinds(aEvents), kinds(bEvents)) {
				t.Fatalf("%s, %s to %s: PUT and PATCH differ (-patch +put):\n%s", who.name, s.after.Status, status,
					diff)
			}
		})
	})
}
