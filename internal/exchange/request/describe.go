package request

import (
	"fmt"
	"strings"
	"time"
)

// DescribeEvent returns one sentence about an event for the people who are notified: who did what with the request for
// which material.
func DescribeEvent(e Event, actor, material string) string {
	return fmt.Sprintf("%s %s (request %d, %s).", actor, DescribeAction(e, "", ""), e.RequestID, material)
}

// DescribeAction returns that sentence without its actor: "accepted the request". reader is the side of the reader, if
// any: the requester reads "your request". If material is not empty, the sentence names it: "accepted your request for
// HeLa".
func DescribeAction(e Event, reader Side, material string) string {
	return eventDescription{e.Detail, reader, material}.did(e.Kind)
}

// eventDescription holds what a sentence about an event depends on.
type eventDescription struct {
	EventDetail
	reader   Side
	material string
}

func (t eventDescription) did(kind EventKind) string {
	switch kind {
	case Made:
		if t.Together > 1 {
			return fmt.Sprintf("sent %d requests", t.Together) + t.andOthers()
		}
		return "sent a request" + t.of("for")
	case StatusChanged:
		return t.moved()
	case Assigned:
		return "assigned " + t.request()
	case DocumentAdded:
		return "submitted the " + slotName(t.Slot) + t.of("for")
	case DocumentWithdrawn:
		return "withdrew the " + slotName(t.Slot) + t.of("for")
	case DocumentAccepted:
		return "accepted the " + slotName(t.Slot) + t.of("for")
	case DocumentReturned:
		return "returned the " + slotName(t.Slot) + t.of("for")
	case AbstractChanged:
		return "wrote the research abstract" + t.of("for")
	case AddressChanged:
		return "set the shipping address" + t.of("for")
	case PaymentChanged:
		return "set the shipping payment" + t.of("for")
	case Messaged:
		return "wrote a message" + t.of("about")
	case IssueOpened:
		return "reported a problem" + t.of("with")
	case IssueClosed:
		return "marked a problem" + t.of("with") + " as resolved"
	case AgreementExecuted:
		return "signed last: agreement " + t.Text + t.of("for") + " is executed"
	case ShipmentChanged:
		return "added shipping details" + t.of("for")
	case Closed:
		return "closed " + t.request()
	case Reopened:
		return "reopened " + t.request()
	case Reminded:
		return t.reminded()
	case Escalated:
		return t.escalated()
	case Snoozed:
		return "snoozed reminders" + t.of("about") + t.until()
	case Unsnoozed:
		return "stopped snoozing reminders" + t.of("about")
	case Deleted:
		return "deleted " + t.request()
	default:
		return "changed the details" + t.of("of the request for")
	}
}

func (t eventDescription) moved() string {
	switch t.To {
	case Open:
		if t.From == Approved {
			return "returned " + t.request() + " for correction"
		}
		return "opened " + t.request() + " again"
	case Approved:
		return "accepted " + t.request()
	case InFulfillment:
		if t.From == Fulfilled {
			return "put the shipment" + t.of("of") + " back into preparation"
		}
		return "started to prepare the shipment" + t.of("of")
	case Fulfilled:
		if t.Issue != 0 {
			return "resolved the problem" + t.of("with")
		}
		return "shipped the material" + t.of("with")
	case Verified:
		return "confirmed receipt" + t.of("of")
	case Rejected:
		return "declined " + t.request()
	case Cancelled:
		return "cancelled " + t.request()
	default:
		return "withdrew " + t.request() + " as invalid"
	}
}

func (t eventDescription) reminded() string {
	if t.material != "" { // whose turn it is appears next to the sentence
		return "reminded " + t.side(t.Party) + " of " + t.request()
	}
	return "reminded " + t.side(t.Party) + ", whose turn it is" + t.turn()
}

func (t eventDescription) escalated() string {
	switch {
	case t.material != "" && t.Party == t.reader: // nobody else is notified
		return "escalated " + t.request() + " to you, the owner of the " + string(t.Party)
	case t.material != "":
		return "escalated " + t.request() + " to the owner of the " + string(t.Party)
	}
	return "notified the owner of the " + string(t.Party) + ", whose turn it is" + t.turn()
}

// turn describes what a turn is for and since when it runs.
func (t eventDescription) turn() string {
	owed := make([]string, len(t.What))
	for i, what := range t.What {
		owed[i] = DescribeTask(what)
	}
	since := ""
	if t.Since != nil {
		since = " since " + time.Time(*t.Since).UTC().Format(time.DateOnly)
	}
	return since + ": " + strings.Join(owed, ", ")
}

func (t eventDescription) until() string {
	if t.Until == nil || t.material != "" { // the day appears next to the sentence
		return ""
	}
	return " until " + time.Time(*t.Until).UTC().Format(time.DateOnly)
}

// request returns what the request is called.
func (t eventDescription) request() string {
	if t.reader == RequesterSide {
		return "your request" + t.of("for")
	}
	return "the request" + t.of("for")
}

// of returns the material behind a preposition.
func (t eventDescription) of(preposition string) string {
	if t.material == "" {
		return ""
	}
	return " " + preposition + " " + t.material
}

// andOthers returns the material behind "for", with how many there are besides.
func (t eventDescription) andOthers() string {
	if t.material == "" {
		return ""
	}
	return fmt.Sprintf("%s and %d more", t.of("for"), t.Together-1)
}

// side returns what a side is called.
func (t eventDescription) side(s Side) string {
	if s == t.reader {
		return "you"
	}
	return "the " + string(s)
}

// StatusName returns the name of a status, which it has in filters, badges, tables and dossiers alike. A badge that
// says what is to be done now names the step instead.
func StatusName(s Status) string {
	return map[Status]string{Open: "New", Approved: "Accepted", InFulfillment: "Being prepared", Fulfilled: "Shipped",
		Verified: "Completed", Rejected: "Declined", Cancelled: "Cancelled", Invalid: "Withdrawn"}[s]
}

// DescribeTask returns what a turn is for, in words.
func DescribeTask(what string) string { return owedNames[what] }

// owedNames are the descriptions of everything that a turn can be for.
var owedNames = map[string]string{
	string(NeedAbstract): "the research abstract", string(NeedSignedMTA): "the signed MTA",
	string(NeedIRB):     "the IRB approval",
	string(NeedAddress): "the shipping address", string(NeedPayment): "the shipping payment",
	string(NeedExecutedMTA): "the executed MTA",
	StepCorrection:          "the answer or correction", StepDecision: "the decision", StepShipment: "the shipment",
	StepIssue: "the reported problem", StepReceipt: "confirming receipt",
}
