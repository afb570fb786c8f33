package notify

import (
	"slices"

	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/request"
)

// Group is a group of people who are notified.
type Group string

// The groups. Members, the assignee and the owner of the lab are notified according to their switches; a requester
// always is.
const (
	ToMembers   Group = "members"
	ToRequester Group = "requester"
	ToAssignee  Group = "assignee"
	ToOwner     Group = "owner"
)

// Audience is a group that is notified of an event, and under which category.
type Audience struct {
	Category mailing.Category
	To       Group
}

// Included reports whether a notification of another event of the same action reports this one too: that a parcel was
// sent comes with its shipping details. Nobody is notified of it separately, but webhooks receive it.
func Included(e request.Event, action []request.Event) bool {
	return e.Kind == request.ShipmentChanged && slices.ContainsFunc(action, func(other request.Event) bool {
		return other.Kind == request.StatusChanged && other.Detail.To == request.Fulfilled
	})
}

// Audiences returns who is notified of an event (contract.md section 8), the closest relation first: a person in
// several groups is notified once, under the first. by are the roles of the actor, who is not notified of their own
// action.
func Audiences(e request.Event, by request.Roles) []Audience {
	switch {
	case e.Kind == request.Made:
		return []Audience{{mailing.AssignedNotif, ToAssignee}, {mailing.NewRequestNotif, ToMembers}}
	case e.Kind == request.Assigned:
		return []Audience{{mailing.AssignedNotif, ToAssignee}}
	case e.Kind == request.Reminded && e.Detail.Party == request.RequesterSide:
		return []Audience{{mailing.ReminderNotif, ToRequester}}
	case e.Kind == request.Reminded:
		return []Audience{{mailing.ReminderNotif, ToMembers}}
	case e.Kind == request.Escalated:
		return []Audience{{mailing.ReminderNotif, ToOwner}}
	case e.Kind == request.StatusChanged && (e.Detail.To == request.Approved || e.Detail.To == request.Rejected):
		return []Audience{{mailing.DecisionNotif, ToRequester}, {mailing.DecisionNotif, ToMembers}}
	case by.Requester && !by.Member:
		return []Audience{{mailing.StatusNotif, ToMembers}}
	case by.Member && !by.Requester:
		return []Audience{{mailing.StatusNotif, ToRequester}}
	default: // an admin, or someone on both sides: both parties are notified
		return []Audience{{mailing.StatusNotif, ToRequester}, {mailing.StatusNotif, ToMembers}}
	}
}
