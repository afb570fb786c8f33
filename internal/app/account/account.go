// Package account holds the use cases of people's own accounts: sign in, tokens, settings, export and closing.
package account

import "aliquot/internal/app/core"

// Accounts are the use cases of people's accounts.
type Accounts struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Accounts { return Accounts{c} }
