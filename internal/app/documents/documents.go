// Package documents holds the use cases of attachments and their content, of addresses and of shipping requirements.
package documents

import "aliquot/internal/app/core"

// Documents are the use cases of attachments, addresses and shipping requirements.
type Documents struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Documents { return Documents{c} }
