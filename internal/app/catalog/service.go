// Package catalog holds the use cases of materials: list, change, find, import and be alerted to them.
package catalog

import "aliquot/internal/app/core"

// Materials are the use cases of materials, of their search and of what is imported about them.
type Materials struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Materials { return Materials{c} }
