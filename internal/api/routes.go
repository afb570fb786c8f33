package api

import "slices"

// routes is the contract as a table: method and path, the action that the policy table rules on, the status of success,
// the handler, and its description; for a list also the fields to sort by. Every path works with and without a trailing
// slash, at the root and under /v1.
var routes = slices.Concat(userRoutes, labRoutes, catalogRoutes, requestRoutes, siteRoutes, institutionRoutes,
	agreementRoutes)
