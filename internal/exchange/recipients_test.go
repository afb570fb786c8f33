package exchange_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
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

func TestWhoHearsOfAnEventIsTheContracts(t *testing.T) {
	t.Parallel()
	table := rows(audiences)
	seen := map[string]bool{}
	for _, row := range table[1:] {
		if len(row) != len(table[0]) {
			t.Fatalf("row %s: got %d cells, want %d", row[0], len(row), len(table[0]))
		}
		kind, which, _ := strings.Cut(row[0], " ") // status, or whose turn it is
		seen[row[0]] = true
		e := exchange.Event{Kind: exchange.EventKind(kind),
			Detail: exchange.Detail{To: exchange.Status(which), Party: exchange.Side(which)}}
		for i, by := range []exchange.Roles{
			{Requester: true}, {Member: true}, {Admin: true}, {Requester: true, Member: true},
		} {
			var list []string
			for _, a := range exchange.Audiences(e, by) {
				list = append(list, string(a.To)+" "+string(a.Category))
			}
			if got, want := strings.Join(list, ", "), categories.Replace(row[1+i]); got != want {
				t.Errorf("%s by %s: got %s, want %s", row[0], table[0][1+i], got, want)
			}
		}
	}
	for _, kind := range exchange.EventKinds {
		names := []string{string(kind)}
		switch kind {
		case exchange.StatusChanged:
			names = nil
			for _, s := range exchange.Statuses {
				names = append(names, string(kind)+" "+string(s))
			}
		case exchange.Reminded:
			names = []string{string(kind) + " requester", string(kind) + " lab"}
		}
		for _, name := range names {
			if !seen[name] {
				t.Errorf("no row for %s", name)
			}
		}
	}
}

func TestEveryCategoryHasASwitchAndStartsOn(t *testing.T) {
	t.Parallel()
	for category, off := range map[exchange.Category]string{
		"new_request_notif": "new_request_notif", "change_in_request_status_notif": "change_in_request_status_notif",
		"request_approval_determined_notif": "request_approval_determined_notif",
		"request_assigned_notif":            "request_assigned_notif", "reminder_notif": "reminder_notif",
	} {
		if !exchange.AllOn.On(category) {
			t.Errorf("%s: got off, want on at the start", category)
		}
		s := body[exchange.SwitchesPatch](t, `{"`+off+`": false, "id": 9}`).Patch(exchange.AllOn)
		if s.On(category) {
			t.Errorf("%s: got on after %s was sent as false", category, off)
		}
		if s == (exchange.Switches{}) || body[exchange.SwitchesPatch](t, `{}`).Patch(s) != s {
			t.Errorf("%s: got %+v, want the other switches kept", category, s)
		}
		if body[exchange.SwitchesPatch](t, `{"`+off+`": true}`).Patch(s) != exchange.AllOn {
			t.Errorf("%s: cannot be switched on again", category)
		}
	}
	if exchange.AllOn.On("weather") {
		t.Error("got an unknown category on")
	}
}

func TestEveryEventHasItsOwnSentence(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	tell := func(e exchange.Event) {
		e.RequestID = 31
		text := exchange.DescribeEvent(e, "Ada Mora", "HeLa")
		if !strings.HasPrefix(text, "Ada Mora ") || !strings.HasSuffix(text, " (request 31, HeLa).") {
			t.Errorf("%s: got %q, want who, what and which request", e.Kind, text)
		}
		for _, reader := range []exchange.Side{exchange.RequesterSide, exchange.LabSide} {
			did := exchange.DescribeAction(e, reader, "HeLa")
			if strings.Count(did, "HeLa") != 1 || strings.Contains(did, "your request") &&
				reader != exchange.RequesterSide {
				t.Errorf("%s to the %s: got %q, want the material named once, and whose request it is", e.Kind, reader,
					did)
			}
		}
		name := fmt.Sprint(e.Kind, e.Detail.From, e.Detail.To, e.Detail.Slot, e.Detail.Party, e.Detail.What)
		if other, ok := seen[text]; ok {
			t.Errorf("%s and %s: got %q for both", name, other, text)
		}
		seen[text] = name
	}
	documents := []exchange.EventKind{exchange.DocumentAdded, exchange.DocumentWithdrawn, exchange.DocumentAccepted,
		exchange.DocumentReturned}
	for _, kind := range exchange.EventKinds {
		switch {
		case slices.Contains(documents, kind):
			for _, slot := range exchange.Slots {
				tell(exchange.Event{Kind: kind, Detail: exchange.Detail{Slot: slot}})
			}
		case kind == exchange.StatusChanged:
			for _, s := range exchange.Statuses {
				tell(exchange.Event{Kind: kind, Detail: exchange.Detail{To: s}})
			}
			tell(exchange.Event{Kind: kind, Detail: exchange.Detail{From: exchange.Approved, To: exchange.Open}})
			tell(exchange.Event{Kind: kind,
				Detail: exchange.Detail{From: exchange.Fulfilled, To: exchange.InFulfillment}})
		case kind == exchange.Reminded || kind == exchange.Escalated:
			sides := map[exchange.EventKind][]exchange.Side{exchange.Reminded: {exchange.RequesterSide,
				exchange.LabSide}, exchange.Escalated: {exchange.LabSide}}
			for _, side := range sides[kind] {
				for _, what := range owed {
					tell(exchange.Event{Kind: kind,
						Detail: exchange.Detail{Party: side, What: []string{what},
							Since: new(exchange.Instant(start))}})
				}
			}
		default:
			tell(exchange.Event{Kind: kind})
		}
	}
}

// owed lists everything that a turn can be for.
var owed = []string{"abstract", "requester_signed_mta", "irb", "address", "payment", "executed_mta",
	"correction", "decision", "shipment", "issue", "receipt"}

func TestAReminderSaysWhoseTurnItIsForWhatAndSinceWhen(t *testing.T) {
	t.Parallel()
	e := exchange.Event{RequestID: 31, Kind: exchange.Reminded, Detail: exchange.Detail{Party: exchange.RequesterSide,
		What: []string{"requester_signed_mta", "address"}, Since: new(exchange.Instant(start)), Days: 7}}
	want := "Aliquot reminded the requester, whose turn it is since 2026-03-02: the signed MTA, the shipping address " +
		"(request 31, HeLa)."
	if got := exchange.DescribeEvent(e, "Aliquot", "HeLa"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Kind, e.Detail.Party, e.Detail.What = exchange.Escalated, exchange.LabSide, []string{"decision"}
	want = "Aliquot notified the owner of the lab, whose turn it is since 2026-03-02: the decision (request 31, HeLa)."
	if got := exchange.DescribeEvent(e, "Aliquot", "HeLa"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASnoozeSaysUntilWhichDay(t *testing.T) {
	t.Parallel()
	e := exchange.Event{RequestID: 31, Kind: exchange.Snoozed,
		Detail: exchange.Detail{Party: exchange.LabSide, Until: new(exchange.Instant(start))}}
	if got, want := exchange.DescribeEvent(e, "Ada Mora", "HeLa"),
		"Ada Mora snoozed reminders until 2026-03-02 (request 31, HeLa)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
