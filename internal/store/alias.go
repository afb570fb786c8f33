package store

import "aliquot/internal/exchange"

// Names that moved to the exchange room.
type (
	Page           = exchange.Page
	Part[T any]    = exchange.Part[T]
	MaterialFilter = exchange.MaterialFilter
	RequestFilter  = exchange.RequestFilter
	Requested      = exchange.Requested
	ShownMaterial  = exchange.ShownMaterial
	Notification   = exchange.Notification
)
