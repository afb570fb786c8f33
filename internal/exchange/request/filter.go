package request

import (
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// StuckFilter narrows the list of requests that wait for one side; a nil field filters nothing.
type StuckFilter struct {
	Party     *Side
	Escalated *bool      // whether the owner of the lab was notified
	Before    *time.Time // only turns that began before
}

// Filter narrows a list of requests.
type Filter struct {
	Material   *int64     `query:"material"`
	Status     *Status    `query:"status"`
	Active     *bool      `query:"is_active"`
	Requester  *uuid.UUID `query:"requester"`
	AssignedTo *uuid.UUID `query:"assigned_to"`

	Search *exchange.SearchText `query:"search"`
}

// EventFilter narrows a list of what happened in an organization's requests.
type EventFilter struct {
	Kind     *EventKind        `query:"kind"`
	Request  *int64            `query:"request"`
	Material *int64            `query:"material"`
	Actor    *uuid.UUID        `query:"actor"`
	Since    *exchange.Instant `query:"since" help:"Only those from this moment on."`
}
