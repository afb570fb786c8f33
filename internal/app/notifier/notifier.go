// Package notifier notifies people of what happened: notifications, mail, digests and webhooks.
package notifier

import "aliquot/internal/app/core"

// Notifications are the use cases of notifications, mail and webhooks.
type Notifications struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Notifications { return Notifications{c} }
