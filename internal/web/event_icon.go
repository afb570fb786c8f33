package web

import "aliquot/internal/exchange"

// look is the icon of an event, with its tone: turn, good, bad, info; "": grey.
type look struct{ Tone, Icon string }

// eventLook is how an event of a request looks in its timeline, and in a list of notifications.
type eventLook struct{ Timeline, Notice look }

func same(tone, icon string) eventLook { return eventLook{look{tone, icon}, look{tone, icon}} }

// eventLooks has all kinds of events but a new status, which looks like the status.
var eventLooks = map[exchange.EventKind]eventLook{
	exchange.RequestMade:       same("info", "sent"),
	exchange.Assigned:          {look{"", "user"}, look{"turn", "user"}},
	exchange.DocumentAdded:     {look{"info", "upload"}, look{"info", "file"}},
	exchange.DocumentAccepted:  same("good", "check"),
	exchange.DocumentReturned:  same("turn", "undo"),
	exchange.DocumentWithdrawn: {look{"", "x"}, look{"info", "file"}},
	exchange.AbstractChanged:   {look{"info", "abstract"}, look{"info", "file"}},
	exchange.AddressChanged:    {look{"info", "pin"}, look{"", "pin"}},
	exchange.Messaged:          {look{"", "message"}, look{"info", "message"}},
	exchange.IssueOpened:       same("bad", "alert"),
	exchange.IssueClosed:       same("good", "check"),
	exchange.Reopened:          {look{"good", "check"}, otherEvent.Notice},
	exchange.ShipmentChanged:   same("info", "truck"),
	exchange.Closed:            same("", "archive"),
	exchange.Deleted:           {look{"", "x"}, look{"", "archive"}},
	exchange.Reminded:          {look{"turn", "bell"}, look{"turn", "clock"}},
	exchange.Escalated:         {look{"turn", "bell"}, look{"bad", "alert"}},
	exchange.Snoozed:           {look{"", "clock"}, otherEvent.Notice},
	exchange.Unsnoozed:         {look{"", "clock"}, otherEvent.Notice},
}

var otherEvent = eventLook{look{"", "edit"}, look{"", "info"}}

var statusLooks = map[exchange.Status]eventLook{
	exchange.Approved:      same("good", "check"),
	exchange.InFulfillment: same("info", "truck"),
	exchange.Fulfilled:     same("info", "truck"),
	exchange.Verified:      same("good", "done"),
	exchange.Rejected:      same("", "declined"),
	exchange.Cancelled:     same("", "cancelled"),
	exchange.Invalid:       same("", "cancelled"),
	exchange.Open:          {look{"turn", "undo"}, look{"turn", "turn"}},
}

// lookOf returns how an event of a request looks.
func lookOf(e exchange.Event) eventLook {
	found, known := eventLooks[e.Kind]
	switch {
	case e.Kind == exchange.StatusChanged:
		return statusLooks[e.Detail.To]
	case !known:
		return otherEvent
	}
	return found
}

func newsLook(k exchange.AnnouncementKind) look {
	switch k {
	case exchange.Invited, exchange.JoinAsked:
		return look{"turn", "users"}
	case exchange.WebhookOff:
		return look{"bad", "alert"}
	case exchange.SearchMatched:
		return look{"info", "search"}
	case exchange.InvitationTaken, exchange.JoinTaken:
		return look{"good", "users"}
	}
	return look{"", "users"}
}
