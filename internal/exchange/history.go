package exchange

import (
	"time"

	"github.com/google/uuid"
)

// Act is one audit event: a change of a material or an organization, or a use of an admin's power.
type Act struct {
	ID      int64
	Actor   *uuid.UUID // nil: anonymous, or the operator at the machine
	Action  Action
	Object  string // what it was done to, as "material 7"
	AsAdmin bool
	At      time.Time
	Version *int64 // of the object, where the act changed a material or an organization
}

// AuditFilter narrows a list of acts; a nil field filters nothing.
type AuditFilter struct {
	Actor   *uuid.UUID `query:"actor"`
	Object  *string    `query:"object"`
	Action  *string    `query:"action"`
	AsAdmin *bool      `query:"as_admin"`
}
