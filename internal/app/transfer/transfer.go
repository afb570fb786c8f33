// Package transfer holds the use cases of requests for materials, from submission to the confirmed parcel, and of whose
// turn it is.
package transfer

import "aliquot/internal/app/core"

// Requests are the use cases of requests.
type Requests struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Requests { return Requests{c} }
