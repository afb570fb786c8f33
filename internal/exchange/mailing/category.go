package mailing

import "slices"

// Category is a category of notifications; its value is the settings field that switches it.
type Category string

// The categories of announcements, which have no switch: lab membership, webhooks, inquiries, agreements and permits,
// and saved searches, whose alerts are switched off in each search.
const (
	MembershipNotif Category = "membership"
	WebhookNotif    Category = "webhook"
	SearchNotif     Category = "saved_search"
	InquiryNotif    Category = "inquiry"
	AgreementNotif  Category = "agreement"
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

// AllCategories lists the categories that mail can be about.
var AllCategories = append(slices.Clone(Categories), MembershipNotif, WebhookNotif, SearchNotif, InquiryNotif,
	AgreementNotif)

var categoryWords = map[Category]string{
	NewRequestNotif: "new requests",
	StatusNotif:     "changes to requests",
	DecisionNotif:   "decisions on requests",
	AssignedNotif:   "requests assigned to you",
	ReminderNotif:   "reminders",
	MembershipNotif: "lab membership",
	WebhookNotif:    "webhooks",
	SearchNotif:     "saved searches",
	InquiryNotif:    "inquiries",
	AgreementNotif:  "agreements and permits",
}

// Words returns what mail of a category is about.
func (c Category) Words() string { return categoryWords[c] }
