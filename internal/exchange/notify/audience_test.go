package notify_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
)

// audiences is contract.md section 8 for every kind of event and every part of the actor: a group and the category
// under which it is notified, the closest relation first.
const audiences = `
| event | requester | member | admin | requester+member |
| request_made | assignee request_assigned, members new_request | assignee request_assigned, members new_request | assignee request_assigned, members new_request | assignee request_assigned, members new_request |
| assigned | assignee request_assigned | assignee request_assigned | assignee request_assigned | assignee request_assigned |
| status_changed APPROVED | requester decided, members decided | requester decided, members decided | requester decided, members decided | requester decided, members decided |
| status_changed REJECTED | requester decided, members decided | requester decided, members decided | requester decided, members decided | requester decided, members decided |
| status_changed OPEN | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| status_changed IN_FULFILLMENT | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| status_changed FULFILLED | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| status_changed VERIFIED_FULFILLED | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| status_changed CANCELLED | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| status_changed INVALID | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| document_added | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| document_withdrawn | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| document_accepted | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| document_returned | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| abstract_changed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| address_changed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| payment_changed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| details_changed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| message | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| issue_opened | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| issue_closed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| shipment_changed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| agreement_executed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| closed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| reopened | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| reminded requester | requester reminder | requester reminder | requester reminder | requester reminder |
| reminded lab | members reminder | members reminder | members reminder | members reminder |
| escalated | owner reminder | owner reminder | owner reminder | owner reminder |
| snoozed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| unsnoozed | members changed | requester changed | requester changed, members changed | requester changed, members changed |
| deleted | members changed | requester changed | requester changed, members changed | requester changed, members changed |`

var categories = strings.NewReplacer(
	"request_assigned", "request_assigned_notif", "new_request", "new_request_notif",
	"reminder", "reminder_notif", "decided", "request_approval_determined_notif", "changed",
	"change_in_request_status_notif",
)

func TestIncluded_ShippingDetailsComeWithTheStatus(t *testing.T) {
	t.Parallel()
	details := request.Event{Kind: request.ShipmentChanged}
	sent := request.Event{Kind: request.StatusChanged, Detail: request.EventDetail{To: request.Fulfilled}}
	back := request.Event{Kind: request.StatusChanged, Detail: request.EventDetail{To: request.InFulfillment}}
	for _, c := range []struct {
		event  request.Event
		action []request.Event
		want   bool
	}{
		{details, []request.Event{details, sent}, true},
		{sent, []request.Event{details, sent}, false},
		{details, []request.Event{details}, false},
		{details, []request.Event{details, back}, false},
	} {
		if got := notify.Included(c.event, c.action); got != c.want {
			t.Errorf("%v of %v: got %v, want %v", c.event, c.action, got, c.want)
		}
	}
}

func TestRecipients_OfAnEventAreTheContracts(t *testing.T) {
	t.Parallel()
	table := exchangetest.Rows(audiences)
	seen := map[string]bool{}
	for _, row := range table[1:] {
		if len(row) != len(table[0]) {
			t.Fatalf("row %s: got %d cells, want %d", row[0], len(row), len(table[0]))
		}
		kind, which, _ := strings.Cut(row[0], " ") // status, or whose turn it is
		seen[row[0]] = true
		e := request.Event{Kind: request.EventKind(kind),
			Detail: request.EventDetail{To: request.Status(which), Party: request.Side(which)}}
		for i, by := range []request.Roles{
			{Requester: true}, {Member: true}, {Admin: true}, {Requester: true, Member: true},
		} {
			var list []string
			for _, a := range notify.Audiences(e, by) {
				list = append(list, string(a.To)+" "+string(a.Category))
			}
			if got, want := strings.Join(list, ", "), categories.Replace(row[1+i]); got != want {
				t.Errorf("%s by %s: got %s, want %s", row[0], table[0][1+i], got, want)
			}
		}
	}
	for _, kind := range request.EventKinds {
		names := []string{string(kind)}
		switch kind {
		case request.StatusChanged:
			names = nil
			for _, s := range request.Statuses {
				names = append(names, string(kind)+" "+string(s))
			}
		case request.Reminded:
			names = []string{string(kind) + " requester", string(kind) + " lab"}
		}
		for _, name := range names {
			if !seen[name] {
				t.Errorf("no row for %s", name)
			}
		}
	}
}
