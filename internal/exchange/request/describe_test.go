package request_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

func TestDescribe_EveryEventHasItsSentence(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	tell := func(e request.Event) {
		e.RequestID = 31
		text := request.DescribeEvent(e, "Ada Mora", "HeLa")
		if !strings.HasPrefix(text, "Ada Mora ") || !strings.HasSuffix(text, " (request 31, HeLa).") {
			t.Errorf("%s: got %q, want who, what and which request", e.Kind, text)
		}
		for _, reader := range []request.Side{request.RequesterSide, request.LabSide} {
			did := request.DescribeAction(e, reader, "HeLa")
			if strings.Count(did, "HeLa") != 1 || strings.Contains(did, "your request") &&
				reader != request.RequesterSide {
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
	documents := []request.EventKind{request.DocumentAdded, request.DocumentWithdrawn, request.DocumentAccepted,
		request.DocumentReturned}
	for _, kind := range request.EventKinds {
		switch {
		case slices.Contains(documents, kind):
			for _, slot := range document.Slots {
				tell(request.Event{Kind: kind, Detail: request.EventDetail{Slot: slot}})
			}
		case kind == request.StatusChanged:
			for _, s := range request.Statuses {
				tell(request.Event{Kind: kind, Detail: request.EventDetail{To: s}})
			}
			tell(request.Event{Kind: kind, Detail: request.EventDetail{From: request.Approved, To: request.Open}})
			tell(request.Event{Kind: kind,
				Detail: request.EventDetail{From: request.Fulfilled, To: request.InFulfillment}})
		case kind == request.Reminded || kind == request.Escalated:
			sides := map[request.EventKind][]request.Side{request.Reminded: {request.RequesterSide,
				request.LabSide}, request.Escalated: {request.LabSide}}
			for _, side := range sides[kind] {
				for _, what := range owed {
					tell(request.Event{Kind: kind,
						Detail: request.EventDetail{Party: side, What: []string{what},
							Since: new(exchange.Instant(exchangetest.Start))}})
				}
			}
		default:
			tell(request.Event{Kind: kind})
		}
	}
}

// owed lists everything that a turn can be for.
var owed = []string{"abstract", "requester_signed_mta", "irb", "address", "payment", "executed_mta",
	"correction", "decision", "shipment", "issue", "receipt"}

func TestDescribe_ReminderNamesTurnTaskAndDay(t *testing.T) {
	t.Parallel()
	e := request.Event{RequestID: 31, Kind: request.Reminded, Detail: request.EventDetail{Party: request.RequesterSide,
		What: []string{"requester_signed_mta", "address"}, Since: new(exchange.Instant(exchangetest.Start)), Days: 7}}
	want := "Aliquot reminded the requester, whose turn it is since 2026-03-02: the signed MTA, the shipping address " +
		"(request 31, HeLa)."
	if got := request.DescribeEvent(e, "Aliquot", "HeLa"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Kind, e.Detail.Party, e.Detail.What = request.Escalated, request.LabSide, []string{"decision"}
	want = "Aliquot notified the owner of the lab, whose turn it is since 2026-03-02: the decision (request 31, HeLa)."
	if got := request.DescribeEvent(e, "Aliquot", "HeLa"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDescribe_SnoozeNamesTheDay(t *testing.T) {
	t.Parallel()
	e := request.Event{RequestID: 31, Kind: request.Snoozed,
		Detail: request.EventDetail{Party: request.LabSide, Until: new(exchange.Instant(exchangetest.Start))}}
	if got, want := request.DescribeEvent(e, "Ada Mora", "HeLa"),
		"Ada Mora snoozed reminders until 2026-03-02 (request 31, HeLa)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
