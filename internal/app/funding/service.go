// Package funding holds the use cases of grants and of what they made available.
package funding

import "aliquot/internal/app/core"

// Grants are the use cases of grants.
type Grants struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Grants { return Grants{c} }
