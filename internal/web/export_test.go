package web

import "aliquot/internal/app"

// Lead is what the page about a subscription says.
func Lead(s app.Subscription, changed bool) string { return tellSubscription(s, changed).Lead }

// ForPeople leads browsers from addresses of the API to pages.
var ForPeople = forPeople
