package ui

import (
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
)

// Look is the icon of an event, with its tone: turn, good, bad, info; "": grey.
type Look struct{ Tone, Icon string }

// eventLook is how an event of a request looks in its timeline, and in a list of notifications.
type eventLook struct{ Timeline, Notice Look }

func same(tone, icon string) eventLook { return eventLook{Look{tone, icon}, Look{tone, icon}} }

// eventLooks has all kinds of events but a new status, which looks like the status.
var eventLooks = map[request.EventKind]eventLook{
	request.Made:              same("info", "sent"),
	request.Assigned:          {Look{"", "user"}, Look{"turn", "user"}},
	request.DocumentAdded:     {Look{"info", "upload"}, Look{"info", "file"}},
	request.DocumentAccepted:  same("good", "check"),
	request.DocumentReturned:  same("turn", "undo"),
	request.DocumentWithdrawn: {Look{"", "x"}, Look{"info", "file"}},
	request.AbstractChanged:   {Look{"info", "abstract"}, Look{"info", "file"}},
	request.AddressChanged:    {Look{"info", "pin"}, Look{"", "pin"}},
	request.Messaged:          {Look{"", "message"}, Look{"info", "message"}},
	request.IssueOpened:       same("bad", "alert"),
	request.IssueClosed:       same("good", "check"),
	request.Reopened:          {Look{"good", "check"}, otherEvent.Notice},
	request.ShipmentChanged:   same("info", "truck"),
	request.Closed:            same("", "archive"),
	request.Deleted:           {Look{"", "x"}, Look{"", "archive"}},
	request.Reminded:          {Look{"turn", "bell"}, Look{"turn", "clock"}},
	request.Escalated:         {Look{"turn", "bell"}, Look{"bad", "alert"}},
	request.Snoozed:           {Look{"", "clock"}, otherEvent.Notice},
	request.AgreementExecuted: {Look{"good", "check"}, otherEvent.Notice},
	request.Unsnoozed:         {Look{"", "clock"}, otherEvent.Notice},
}

var otherEvent = eventLook{Look{"", "edit"}, Look{"", "info"}}

var statusLooks = map[request.Status]eventLook{
	request.Approved:      same("good", "check"),
	request.InFulfillment: same("info", "truck"),
	request.Fulfilled:     same("info", "truck"),
	request.Verified:      same("good", "done"),
	request.Rejected:      same("", "declined"),
	request.Cancelled:     same("", "cancelled"),
	request.Invalid:       same("", "cancelled"),
	request.Open:          {Look{"turn", "undo"}, Look{"turn", "turn"}},
}

// LookOf returns how an event of a request looks.
func LookOf(e request.Event) eventLook {
	found, known := eventLooks[e.Kind]
	switch {
	case e.Kind == request.StatusChanged:
		return statusLooks[e.Detail.To]
	case !known:
		return otherEvent
	}
	return found
}

func newsLook(k notify.AnnouncementKind) Look {
	switch k {
	case notify.Invited, notify.JoinAsked:
		return Look{"turn", "users"}
	case notify.DutyDue, notify.PermitEnding:
		return Look{"turn", "clock"}
	case notify.FileInfected:
		return Look{"bad", "alert"}
	case notify.InquiryMade:
		return Look{"turn", "message"}
	case notify.AgreementSent:
		return Look{"turn", "file"}
	case notify.AgreementSigned:
		return Look{"good", "check"}
	case notify.AgreementDeclined, notify.AgreementWithdrawn:
		return Look{"turn", "undo"}
	case notify.InquiryAnswered:
		return Look{"info", "message"}
	case notify.PasskeyAdded, notify.PasskeyRemoved:
		return Look{"info", "lock"}
	case notify.WebhookOff, notify.RecordFaulty, notify.ErasureAsked:
		return Look{"bad", "alert"}
	case notify.SearchMatched:
		return Look{"info", "search"}
	case notify.InvitationTaken, notify.JoinTaken:
		return Look{"good", "users"}
	}
	return Look{"", "users"}
}
