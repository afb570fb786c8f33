package web

import "aliquot/internal/app/notifier"

// Lead is what the page about a subscription says.
func Lead(s notifier.Subscription, changed bool) string { return tellSubscription(s, changed).Lead }

// ForPeople leads browsers from addresses of the API to pages.
var ForPeople = forPeople
