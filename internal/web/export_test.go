package web

import "aliquot/internal/app"

// Lead is what the page about a subscription says.
func Lead(s app.Subscription, changed bool) string { return tellSubscription(s, changed).Lead }

// ForPeople leads browsers from addresses of the API to pages.
var ForPeople = forPeople

// Device is what a session is called.
func Device(agent string) string { return device(agent) }

// AsText marks what a spreadsheet would take for a formula.
var AsText = asText
