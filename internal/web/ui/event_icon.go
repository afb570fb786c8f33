package ui

import "aliquot/internal/exchange"

// Look is the icon of an event, with its tone: turn, good, bad, info; "": grey.
type Look struct{ Tone, Icon string }

// eventLook is how an event of a request looks in its timeline, and in a list of notifications.
type eventLook struct{ Timeline, Notice Look }

func same(tone, icon string) eventLook { return eventLook{Look{tone, icon}, Look{tone, icon}} }

// eventLooks has all kinds of events but a new status, which looks like the status.
var eventLooks = map[exchange.EventKind]eventLook{
	exchange.RequestMade:       same("info", "sent"),
	exchange.Assigned:          {Look{"", "user"}, Look{"turn", "user"}},
	exchange.DocumentAdded:     {Look{"info", "upload"}, Look{"info", "file"}},
	exchange.DocumentAccepted:  same("good", "check"),
	exchange.DocumentReturned:  same("turn", "undo"),
	exchange.DocumentWithdrawn: {Look{"", "x"}, Look{"info", "file"}},
	exchange.AbstractChanged:   {Look{"info", "abstract"}, Look{"info", "file"}},
	exchange.AddressChanged:    {Look{"info", "pin"}, Look{"", "pin"}},
	exchange.Messaged:          {Look{"", "message"}, Look{"info", "message"}},
	exchange.IssueOpened:       same("bad", "alert"),
	exchange.IssueClosed:       same("good", "check"),
	exchange.Reopened:          {Look{"good", "check"}, otherEvent.Notice},
	exchange.ShipmentChanged:   same("info", "truck"),
	exchange.Closed:            same("", "archive"),
	exchange.Deleted:           {Look{"", "x"}, Look{"", "archive"}},
	exchange.Reminded:          {Look{"turn", "bell"}, Look{"turn", "clock"}},
	exchange.Escalated:         {Look{"turn", "bell"}, Look{"bad", "alert"}},
	exchange.Snoozed:           {Look{"", "clock"}, otherEvent.Notice},
	exchange.Unsnoozed:         {Look{"", "clock"}, otherEvent.Notice},
}

var otherEvent = eventLook{Look{"", "edit"}, Look{"", "info"}}

var statusLooks = map[exchange.Status]eventLook{
	exchange.Approved:      same("good", "check"),
	exchange.InFulfillment: same("info", "truck"),
	exchange.Fulfilled:     same("info", "truck"),
	exchange.Verified:      same("good", "done"),
	exchange.Rejected:      same("", "declined"),
	exchange.Cancelled:     same("", "cancelled"),
	exchange.Invalid:       same("", "cancelled"),
	exchange.Open:          {Look{"turn", "undo"}, Look{"turn", "turn"}},
}

// LookOf returns how an event of a request looks.
func LookOf(e exchange.Event) eventLook {
	found, known := eventLooks[e.Kind]
	switch {
	case e.Kind == exchange.StatusChanged:
		return statusLooks[e.Detail.To]
	case !known:
		return otherEvent
	}
	return found
}

func newsLook(k exchange.AnnouncementKind) Look {
	switch k {
	case exchange.Invited, exchange.JoinAsked:
		return Look{"turn", "users"}
	case exchange.WebhookOff:
		return Look{"bad", "alert"}
	case exchange.SearchMatched:
		return Look{"info", "search"}
	case exchange.InvitationTaken, exchange.JoinTaken:
		return Look{"good", "users"}
	}
	return Look{"", "users"}
}
