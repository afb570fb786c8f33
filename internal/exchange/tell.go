package exchange

import (
	"fmt"
	"strings"
	"time"
)

// Tell says in one sentence what an event was, for the people who hear of it: who did what
// with the request of which material.
func Tell(e Event, actor, material string) string {
	return fmt.Sprintf("%s %s (request %d, %s).", actor, did(e), e.RequestID, material)
}

func did(e Event) string {
	switch e.Kind {
	case RequestMade:
		return "sent a request"
	case StatusChanged:
		return statusDid(e.Detail)
	case Assigned:
		return "assigned the request"
	case DocumentAdded:
		return "handed in the " + slotName(e.Detail.Slot)
	case DocumentWithdrawn:
		return "withdrew the " + slotName(e.Detail.Slot)
	case DocumentAccepted:
		return "accepted the " + slotName(e.Detail.Slot)
	case DocumentReturned:
		return "asked for a corrected " + slotName(e.Detail.Slot)
	case AbstractChanged:
		return "wrote the research abstract"
	case AddressChanged:
		return "set the shipping address"
	case PaymentChanged:
		return "set how the shipment is paid"
	case Messaged:
		return "wrote a message"
	case IssueOpened:
		return "reported a problem"
	case IssueClosed:
		return "closed a problem"
	case ShipmentChanged:
		return "set how the parcel travels"
	case Closed:
		return "closed the request"
	case Reopened:
		return "reopened the request"
	case Reminded:
		return fmt.Sprintf("reminded the %s, whose turn it is%s", e.Detail.Party, turnOf(e.Detail))
	case Escalated:
		return fmt.Sprintf("told the owner of the %s, whose turn it is%s", e.Detail.Party, turnOf(e.Detail))
	case Snoozed:
		return "snoozed the reminders" + until(e.Detail)
	case Unsnoozed:
		return "ended the snooze of the reminders"
	case Deleted:
		return "deleted the request"
	default:
		return "changed the details"
	}
}

func statusDid(d Detail) string {
	switch d.To {
	case Open:
		if d.From == Approved {
			return "returned the request for correction"
		}
		return "opened the request again"
	case Approved:
		return "accepted the request"
	case InFulfillment:
		if d.From == Fulfilled {
			return "put the shipment back into preparation"
		}
		return "started to prepare the shipment"
	case Fulfilled:
		if d.Issue != 0 {
			return "put the shipment back to sent"
		}
		return "sent the parcel"
	case Verified:
		return "confirmed the receipt"
	case Rejected:
		return "declined the request"
	case Cancelled:
		return "cancelled the request"
	default:
		return "withdrew the request as invalid"
	}
}

// turnOf says since when a turn is and for what.
func turnOf(d Detail) string {
	owed := make([]string, len(d.What))
	for i, what := range d.What {
		owed[i] = owedNames[what]
	}
	since := ""
	if d.Since != nil {
		since = " since " + time.Time(*d.Since).UTC().Format(time.DateOnly)
	}
	return since + ": " + strings.Join(owed, ", ")
}

func until(d Detail) string {
	if d.Until == nil {
		return ""
	}
	return " until " + time.Time(*d.Until).UTC().Format(time.DateOnly)
}

// owedNames are what a turn can be for, in words.
var owedNames = map[string]string{
	string(NeedAbstract): "the research abstract", string(NeedSignedMTA): "the signed MTA", string(NeedIRB): "the IRB document",
	string(NeedAddress): "the shipping address", string(NeedPayment): "how the shipment is paid", string(NeedExecutedMTA): "the executed MTA",
	StepCorrection: "the correction", StepDecision: "the decision", StepShipment: "the shipment",
	StepIssue: "the problem that was reported", StepReceipt: "confirming the receipt",
}
