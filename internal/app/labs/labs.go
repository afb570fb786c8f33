// Package labs holds the use cases of organizations: found, change and merge them, join them, invite to them and leave
// them.
package labs

import "aliquot/internal/app/core"

// Labs are the use cases of organizations, their members and invitations.
type Labs struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Labs { return Labs{c} }
