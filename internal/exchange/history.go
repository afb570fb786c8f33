package exchange

import (
	"time"

	"github.com/google/uuid"
)

// AuditEvent is one audited action: a sign-in, a change of tokens, members, settings, documents, materials or
// organizations, a use of an admin's rights, or a refusal.
type AuditEvent struct {
	ID      int64
	Actor   *uuid.UUID // nil: anonymous, or the operator
	Action  Action
	Object  string // what it was done to, such as "material 7"
	AsAdmin bool
	At      time.Time
	Refused Code   // "": it was not refused
	Times   int64  // how often it was refused within an hour, else 1
	Version *int64 // of the object, if the action changed a material or an organization
}

// AuditFilter narrows a list of audit events; a nil field filters nothing.
type AuditFilter struct {
	Actor   *uuid.UUID `query:"actor"`
	Object  *string    `query:"object"`
	Action  *string    `query:"action"`
	AsAdmin *bool      `query:"as_admin"`
	Refused *bool      `query:"refused" help:"Only what was refused, or only what was done."`
	From    *Date      `query:"from" help:"Since the beginning of this day, UTC."`
	To      *Date      `query:"to" help:"Until the end of this day, UTC."`
}
