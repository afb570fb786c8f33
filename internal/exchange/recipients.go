package exchange

import "slices"

// Category is a category of notifications; its value is the settings field that switches it.
type Category string

// The categories of announcements, which have no switch: lab membership, webhooks, and saved searches, whose alerts are
// switched off in each search.
const (
	MembershipNotif Category = "membership"
	WebhookNotif    Category = "webhook"
	SearchNotif     Category = "saved_search"
)

// The five categories of the specification.
const (
	NewRequestNotif Category = "new_request_notif"
	StatusNotif     Category = "change_in_request_status_notif"
	DecisionNotif   Category = "request_approval_determined_notif"
	AssignedNotif   Category = "request_assigned_notif"
	ReminderNotif   Category = "reminder_notif"
)

// Categories lists all of them.
var Categories = []Category{NewRequestNotif, StatusNotif, DecisionNotif, AssignedNotif, ReminderNotif}

// MailCategories lists the categories that mail can be about.
var MailCategories = append(slices.Clone(Categories), MembershipNotif, WebhookNotif, SearchNotif)

// Words returns what mail of a category is about.
func (c Category) Words() string { return categoryWords[c] }

var categoryWords = map[Category]string{
	NewRequestNotif: "new requests",
	StatusNotif:     "changes to requests",
	DecisionNotif:   "decisions on requests",
	AssignedNotif:   "requests assigned to you",
	ReminderNotif:   "reminders",
	MembershipNotif: "lab membership",
	WebhookNotif:    "webhooks",
	SearchNotif:     "saved searches",
}

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
	Category Category
	To       Group
}

// Audiences returns who is notified of an event (contract.md section 8), the closest relation first: a person in
// several groups is notified once, under the first. by are the roles of the actor, who is not notified of their own
// action.
func Audiences(e Event, by Roles) []Audience {
	switch {
	case e.Kind == RequestMade:
		return []Audience{{AssignedNotif, ToAssignee}, {NewRequestNotif, ToMembers}}
	case e.Kind == Assigned:
		return []Audience{{AssignedNotif, ToAssignee}}
	case e.Kind == Reminded && e.Detail.Party == RequesterSide:
		return []Audience{{ReminderNotif, ToRequester}}
	case e.Kind == Reminded:
		return []Audience{{ReminderNotif, ToMembers}}
	case e.Kind == Escalated:
		return []Audience{{ReminderNotif, ToOwner}}
	case e.Kind == StatusChanged && (e.Detail.To == Approved || e.Detail.To == Rejected):
		return []Audience{{DecisionNotif, ToRequester}, {DecisionNotif, ToMembers}}
	case by.Requester && !by.Member:
		return []Audience{{StatusNotif, ToMembers}}
	case by.Member && !by.Requester:
		return []Audience{{StatusNotif, ToRequester}}
	default: // an admin, or someone on both sides: both parties are notified
		return []Audience{{StatusNotif, ToRequester}, {StatusNotif, ToMembers}}
	}
}
